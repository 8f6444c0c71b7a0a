import java.io.PrintWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

import org.apache.hadoop.util.hash.MurmurHash;

/**
 * Golden vectors from Hadoop and from Java's own strings; writes murmur2.txt and polynomial.txt where it is run.
 *
 *   java -cp hadoop-common-3.4.1.jar Vectors.java
 */
class Vectors {
    static final int[] LENGTHS = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 20, 31, 1000};
    static final int[] SEEDS = {0, 1, 6, 0x9747b28c, -1};
    static final long[] SIZES = {106, 24404, (1L << 31) - 1, 1L << 31};
    static final String[] TEXTS = {
        "", "a", "ab", "tt0073537", "Müller", "日本語", "\uD83D\uDE00", "x\uD83C\uDF38y", "\uFFFD",
        "polygenelubricants", // its code for seed 31 is Integer.MIN_VALUE
        "thirty pronounceable letters 1",
    };

    static byte[] key(int length) {
        byte[] key = new byte[length];
        for (int i = 0; i < length; i++) key[i] = (byte) (131 * i + 7);
        return key;
    }

    static long polynomialMod(String text, int seed, long m) {
        BigInteger h = BigInteger.ZERO, factor = BigInteger.valueOf(Integer.toUnsignedLong(seed));
        for (int i = 0; i < text.length(); i++)
            h = factor.multiply(h).add(BigInteger.valueOf(text.charAt(i))).mod(BigInteger.valueOf(m));
        return h.longValueExact();
    }

    static long polynomialWrap(String text, int seed, long m) {
        int code = 0;
        for (int i = 0; i < text.length(); i++) code = code * seed + text.charAt(i);
        return Math.abs((long) code) % m;
    }

    public static void main(String[] arguments) throws Exception {
        try (PrintWriter out = new PrintWriter("murmur2.txt", StandardCharsets.UTF_8)) {
            out.print("# org.apache.hadoop:hadoop-common 3.4.1, Math.abs(MurmurHash.hash(key, length, seed) % m)\n");
            out.print("# length seed m index\n");
            for (int length : LENGTHS) for (int seed : SEEDS) for (long m : SIZES) {
                long index = Math.abs(new MurmurHash().hash(key(length), length, seed) % m);
                out.print(length + " " + Integer.toUnsignedString(seed) + " " + m + " " + index + "\n");
            }
        }
        try (PrintWriter out = new PrintWriter("polynomial.txt", StandardCharsets.UTF_8)) {
            out.print("# OpenJDK 17, over String.charAt\n");
            out.print("# key seed m polynomial-mod polynomial-wrap\n");
            for (String text : TEXTS) for (int seed : new int[] {0, 31, 131, -1}) for (long m : SIZES) {
                String key = HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
                out.print((key.isEmpty() ? "-" : key) + " " + Integer.toUnsignedString(seed) + " " + m + " "
                    + polynomialMod(text, seed, m) + " " + polynomialWrap(text, seed, m) + "\n");
            }
        }
    }
}

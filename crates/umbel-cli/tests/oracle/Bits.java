import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.TreeSet;

import org.apache.hadoop.util.hash.MurmurHash;

/**
 * The bits that the keys of keys.txt set by Hadoop's MurmurHash and by polynomials over String.charAt; writes murmur2.txt,
 * polynomial-mod.txt and polynomial-wrap.txt where it is run.
 *
 *   java -cp hadoop-common-3.4.2.jar Bits.java
 */
class Bits {
    interface Hash {
        long index(String key, int seed, int m);
    }

    record Filter(int m, String seeds) {}

    static final Filter[] FILTERS = {
        new Filter(1009, "0,1,2,3,4"), new Filter(2048, "7,42,4294967295"), new Filter(1024, "31,131,1313"), new Filter(3, "9"),
    };

    static long murmur2(String key, int seed, int m) {
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        return Math.abs(new MurmurHash().hash(bytes, bytes.length, seed) % m);
    }

    static long polynomialMod(String key, int seed, int m) {
        long code = 0;
        for (int i = 0; i < key.length(); i++) code = (Integer.toUnsignedLong(seed) * code + key.charAt(i)) % m;
        return code;
    }

    static long polynomialWrap(String key, int seed, int m) {
        int code = 0;
        for (int i = 0; i < key.length(); i++) code = code * seed + key.charAt(i);
        return Math.abs((long) code) % m;
    }

    static void write(String name, String source, List<String> keys, Hash hash) throws Exception {
        StringBuilder text = new StringBuilder("# " + source + "\n# m; seeds; bits\n");
        for (Filter filter : FILTERS) {
            int[] seeds = Arrays.stream(filter.seeds.split(",")).mapToInt(Integer::parseUnsignedInt).toArray();
            TreeSet<Long> bits = new TreeSet<>();
            for (String key : keys) for (int seed : seeds) bits.add(hash.index(key, seed, filter.m));
            StringJoiner joined = new StringJoiner(" ");
            bits.forEach(bit -> joined.add(bit.toString()));
            text.append(filter.m).append("; ").append(filter.seeds).append("; ").append(joined).append('\n');
        }
        Files.writeString(Path.of(name), text);
    }

    public static void main(String[] arguments) throws Exception {
        List<String> keys = Files.readAllLines(Path.of("keys.txt"));
        write("murmur2.txt", "org.apache.hadoop:hadoop-common 3.4.2, Math.abs(MurmurHash.hash(key, length, seed) % m)", keys, Bits::murmur2);
        write("polynomial-mod.txt", "OpenJDK 17, over String.charAt", keys, Bits::polynomialMod);
        write("polynomial-wrap.txt", "OpenJDK 17, over String.charAt", keys, Bits::polynomialWrap);
    }
}

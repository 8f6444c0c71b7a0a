import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.SequenceFile;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.lib.input.NLineInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat;
import org.apache.hadoop.util.GenericOptionsParser;
import org.apache.hadoop.util.hash.Hash;

/**
 * One Bloom filter for each rounded rating, as a plain MapReduce program writes it: a job that counts, and a job whose mappers send
 * the indexes of every key, or partial filters. The bench runs it beside umbel.
 *
 * usage: Plain [-D NAME=VALUE …] IN OUT LINES_PER_MAP P indexes|filters|nothing
 *
 * Prints a line a job: its name, milliseconds, map output bytes, milliseconds of CPU time. The bits of rating r are left in OUT/bits-r.
 */
public class Plain {
    static final int RATINGS = 10;

    /** A row of the table; false for the header and malformed rows. */
    static final class Row {
        String key;
        int rating;

        boolean parse(Text line) {
            String[] fields = line.toString().split("\t");
            if (fields.length < 2) {
                return false;
            }
            try {
                key = fields[0];
                rating = (int) Math.floor(Double.parseDouble(fields[1]) + 0.5);
            } catch (NumberFormatException malformed) {
                return false;
            }
            return rating >= 1 && rating <= RATINGS;
        }
    }

    /** The bits of a filter, the lowest first. */
    static final class Bits {
        final byte[] bytes;

        Bits(int m) {
            bytes = new byte[(m + 7) / 8];
        }

        void set(int index) {
            bytes[index >> 3] |= (byte) (1 << (index & 7));
        }

        void or(BytesWritable other) {
            byte[] theirs = other.getBytes();
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] |= theirs[i];
            }
        }
    }

    static int index(Hash hash, byte[] key, int seed, int m) {
        return Math.abs(hash.hash(key, key.length, seed) % m);
    }

    static int[] sizes(Configuration conf) {
        return conf.getInts("plain.m");
    }

    // Counting

    static final class CountMapper extends Mapper<LongWritable, Text, IntWritable, LongWritable> {
        private final long[] counts = new long[RATINGS + 1];
        private final Row row = new Row();

        @Override
        protected void map(LongWritable at, Text line, Context context) {
            if (row.parse(line)) {
                counts[row.rating]++;
            }
        }

        @Override
        protected void cleanup(Context context) throws IOException, InterruptedException {
            for (int rating = 1; rating <= RATINGS; rating++) {
                context.write(new IntWritable(rating), new LongWritable(counts[rating]));
            }
        }
    }

    static final class CountReducer extends Reducer<IntWritable, LongWritable, IntWritable, LongWritable> {
        @Override
        protected void reduce(IntWritable rating, Iterable<LongWritable> counts, Context context)
                throws IOException, InterruptedException {
            long sum = 0;
            for (LongWritable count : counts) {
                sum += count.get();
            }
            context.write(rating, new LongWritable(sum));
        }
    }

    // Building, with indexes

    static final class IndexMapper extends Mapper<LongWritable, Text, IntWritable, BytesWritable> {
        private final Hash hash = Hash.getInstance(Hash.MURMUR_HASH);
        private final Row row = new Row();
        private int[] m;
        private int k;

        @Override
        protected void setup(Context context) {
            m = sizes(context.getConfiguration());
            k = context.getConfiguration().getInt("plain.k", 0);
        }

        @Override
        protected void map(LongWritable at, Text line, Context context) throws IOException, InterruptedException {
            if (!row.parse(line)) {
                return;
            }
            byte[] key = row.key.getBytes();
            byte[] indexes = new byte[4 * k];
            for (int i = 0; i < k; i++) {
                int index = index(hash, key, i, m[row.rating]);
                for (int b = 0; b < 4; b++) {
                    indexes[4 * i + b] = (byte) (index >>> (24 - 8 * b));
                }
            }
            context.write(new IntWritable(row.rating), new BytesWritable(indexes));
        }
    }

    static final class IndexReducer extends Reducer<IntWritable, BytesWritable, IntWritable, BytesWritable> {
        @Override
        protected void reduce(IntWritable rating, Iterable<BytesWritable> all, Context context)
                throws IOException, InterruptedException {
            Bits bits = new Bits(sizes(context.getConfiguration())[rating.get()]);
            for (BytesWritable indexes : all) {
                byte[] bytes = indexes.getBytes();
                for (int i = 0; i < indexes.getLength(); i += 4) {
                    bits.set((bytes[i] & 255) << 24 | (bytes[i + 1] & 255) << 16 | (bytes[i + 2] & 255) << 8 | bytes[i + 3] & 255);
                }
            }
            context.write(rating, new BytesWritable(bits.bytes));
        }
    }

    // Building, with partial filters

    static final class FilterMapper extends Mapper<LongWritable, Text, IntWritable, BytesWritable> {
        private final Hash hash = Hash.getInstance(Hash.MURMUR_HASH);
        private final Row row = new Row();
        private final Bits[] filters = new Bits[RATINGS + 1];
        private int[] m;
        private int k;

        @Override
        protected void setup(Context context) {
            m = sizes(context.getConfiguration());
            k = context.getConfiguration().getInt("plain.k", 0);
            for (int rating = 1; rating <= RATINGS; rating++) {
                filters[rating] = new Bits(m[rating]);
            }
        }

        @Override
        protected void map(LongWritable at, Text line, Context context) {
            if (!row.parse(line)) {
                return;
            }
            byte[] key = row.key.getBytes();
            for (int i = 0; i < k; i++) {
                filters[row.rating].set(index(hash, key, i, m[row.rating]));
            }
        }

        @Override
        protected void cleanup(Context context) throws IOException, InterruptedException {
            for (int rating = 1; rating <= RATINGS; rating++) {
                context.write(new IntWritable(rating), new BytesWritable(filters[rating].bytes));
            }
        }
    }

    static final class FilterReducer extends Reducer<IntWritable, BytesWritable, IntWritable, BytesWritable> {
        @Override
        protected void reduce(IntWritable rating, Iterable<BytesWritable> all, Context context)
                throws IOException, InterruptedException {
            Bits bits = new Bits(sizes(context.getConfiguration())[rating.get()]);
            for (BytesWritable filter : all) {
                bits.or(filter);
            }
            context.write(rating, new BytesWritable(bits.bytes));
        }
    }

    /** Takes nothing and sends nothing: what a job costs without work. */
    static final class Idle extends Mapper<LongWritable, Text, IntWritable, LongWritable> {
        @Override
        protected void map(LongWritable at, Text line, Context context) {
        }
    }

    private final Configuration conf;
    private final Path in;
    private final Path out;
    private final int lines;

    Plain(Configuration conf, String in, String out, String lines) {
        this.conf = conf;
        this.in = new Path(in);
        this.out = new Path(out);
        this.lines = Integer.parseInt(lines);
    }

    Path run(String name, Class<? extends Mapper> mapper, Class<? extends Reducer> reducer, Class<?> value) throws Exception {
        Job job = Job.getInstance(conf, "plain " + name);
        job.setJarByClass(Plain.class);
        job.setInputFormatClass(NLineInputFormat.class);
        NLineInputFormat.addInputPath(job, in);
        NLineInputFormat.setNumLinesPerSplit(job, lines);
        job.setMapperClass(mapper);
        job.setReducerClass(reducer);
        job.setOutputKeyClass(IntWritable.class);
        job.setOutputValueClass(value);
        job.setOutputFormatClass(SequenceFileOutputFormat.class);
        Path folder = new Path(out, name);
        FileOutputFormat.setOutputPath(job, folder);
        long began = System.nanoTime();
        if (!job.waitForCompletion(false)) {
            throw new IOException(name + " has failed");
        }
        long bytes = job.getCounters().findCounter(TaskCounter.MAP_OUTPUT_BYTES).getValue();
        long cpu = job.getCounters().findCounter(TaskCounter.CPU_MILLISECONDS).getValue();
        System.out.println(name + " " + (System.nanoTime() - began) / 1_000_000 + " " + bytes + " " + cpu);
        return folder;
    }

    interface Take<V> {
        void take(int rating, V value) throws IOException;
    }

    <V extends org.apache.hadoop.io.Writable> void read(Path folder, V value, Take<V> take) throws IOException {
        for (FileStatus part : FileSystem.get(conf).globStatus(new Path(folder, "part-*"))) {
            try (SequenceFile.Reader reader = new SequenceFile.Reader(conf, SequenceFile.Reader.file(part.getPath()))) {
                IntWritable rating = new IntWritable();
                while (reader.next(rating, value)) {
                    take.take(rating.get(), value);
                }
            }
        }
    }

    void build(double p, boolean indexes) throws Exception {
        Map<Integer, Long> counts = new TreeMap<>();
        read(run("count", CountMapper.class, CountReducer.class, LongWritable.class), new LongWritable(),
                (rating, count) -> counts.put(rating, count.get()));
        String[] sizes = new String[RATINGS + 1];
        sizes[0] = "0";
        double ln2 = Math.log(2);
        long k = 0;
        for (int rating = 1; rating <= RATINGS; rating++) {
            long n = counts.getOrDefault(rating, 0L);
            long m = Math.max(1, (long) Math.ceil(-n * Math.log(p) / (ln2 * ln2)));
            sizes[rating] = Long.toString(m);
            k = n > 0 ? Math.round((double) m / n * ln2) : k;
        }
        conf.setStrings("plain.m", sizes);
        conf.setInt("plain.k", (int) k);
        Path folder = indexes ? run("indexes", IndexMapper.class, IndexReducer.class, BytesWritable.class)
                : run("filters", FilterMapper.class, FilterReducer.class, BytesWritable.class);
        FileSystem fs = FileSystem.get(conf);
        read(folder, new BytesWritable(), (rating, bits) -> {
            try (FSDataOutputStream file = fs.create(new Path(out, "bits-" + rating))) {
                file.write(bits.getBytes(), 0, bits.getLength());
            }
        });
    }

    public static void main(String[] all) throws Exception {
        Configuration conf = new Configuration();
        String[] args = new GenericOptionsParser(conf, all).getRemainingArgs();
        Plain plain = new Plain(conf, args[0], args[1], args[2]);
        if (args[4].equals("nothing")) {
            plain.run("nothing", Idle.class, CountReducer.class, LongWritable.class);
        } else {
            plain.build(Double.parseDouble(args[3]), args[4].equals("indexes"));
        }
    }
}

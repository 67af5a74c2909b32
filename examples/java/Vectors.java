import com.google.gson.Gson;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Tests of Aioli.java, also by the test vectors: {@code java Vectors.java FOLDER}. */
public final class Vectors {
    record File(int numberOfTests, List<Group> testGroups) {}

    record Group(String set, String seed, String publicKey, List<Test> tests) {}

    record Test(int tcId, String msg, String sig, String result, List<String> flags,
            int[] sigLengths, int[] sigBits, int[] keyLengths, int[] keyBits) {}

    private static Path folder;

    public static void main(String[] arguments) throws Exception {
        folder = Path.of(arguments[0]);
        for (Aioli.ParameterSet set : Aioli.ParameterSet.values()) {
            signsAndVerifies(set);
            System.out.println(set + ": " + verifies(set) + " signatures");
        }
        System.out.println(signs() + " signatures made");
        refuses();
    }

    private static void demand(boolean condition, Object what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** The call must throw an AioliException with this status, whose message holds this. */
    private static void refused(int status, String says, Runnable call) {
        try {
            call.run();
        } catch (Aioli.AioliException refusal) {
            demand(refusal.status == status && refusal.getMessage().contains(says), refusal);
            return;
        }
        throw new AssertionError("not refused: " + says);
    }

    private static void signsAndVerifies(Aioli.ParameterSet set) {
        byte[] message = "a message".getBytes();
        try (var key = Aioli.SigningKey.generate(set)) {
            byte[] publicKey = key.publicKey();
            byte[] signature = key.sign(message);
            demand(!Arrays.equals(signature, key.sign(message)), "signatures are randomized");
            demand(Aioli.verify(set, publicKey, message, signature), set);
            demand(Aioli.verify(set, publicKey, new byte[0], key.sign(new byte[0])), set);
            byte[] shorter = Arrays.copyOf(signature, signature.length - 1);
            refused(2, "bytes, not", () -> Aioli.verify(set, publicKey, message, shorter));
            signature[7] ^= 1;
            demand(!Aioli.verify(set, publicKey, message, signature), set);
        }
    }

    private static void refuses() {
        refused(2, "24 bytes, not 23", () -> Aioli.SigningKey.fromSeed(Aioli.ParameterSet.MAYO1, new byte[23]));
        var key = Aioli.SigningKey.generate(Aioli.ParameterSet.MAYO1);
        key.close();
        key.close();
        refused(6, "key is NULL", () -> key.sign(new byte[0]));
    }

    private static List<Group> groups(String name) throws Exception {
        File file = new Gson().fromJson(Files.readString(folder.resolve(name + ".json")), File.class);
        int tests = file.testGroups.stream().mapToInt(group -> group.tests.size()).sum();
        demand(tests == file.numberOfTests, name + " has " + tests + " tests");
        return file.testGroups;
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex);
    }

    private static String name(Aioli.ParameterSet set) {
        return set.name().toLowerCase().replace('_', '-');
    }

    /** Whether a signature is valid; one of a wrong length is not. */
    private static boolean valid(Aioli.ParameterSet set, byte[] key, byte[] message, byte[] signature) {
        try {
            return Aioli.verify(set, key, message, signature);
        } catch (Aioli.AioliException refusal) {
            demand(refusal.status == Aioli.AioliException.WRONG_LENGTH, refusal);
            return false;
        }
    }

    private static int verifies(Aioli.ParameterSet set) throws Exception {
        int count = 0;
        for (Group group : groups("verify-" + name(set))) {
            demand(group.set.equals(name(set)), group.set);
            byte[] key = bytes(group.publicKey);
            for (Test test : group.tests) {
                for (byte[][] variant : variants(key, bytes(test.sig), test)) {
                    boolean valid = valid(set, variant[0], bytes(test.msg), variant[1]);
                    demand(valid == test.result.equals("valid"), set + ", test " + test.tcId);
                    count++;
                }
            }
        }
        demand(count > 250, "only " + count);
        return count;
    }

    /** The cases that a test stands for: pairs of a key and a signature. */
    private static List<byte[][]> variants(byte[] key, byte[] sig, Test test) {
        var all = new java.util.ArrayList<byte[][]>();
        for (int length : orEmpty(test.sigLengths)) all.add(new byte[][] {key, Arrays.copyOf(sig, length)});
        for (int length : orEmpty(test.keyLengths)) all.add(new byte[][] {Arrays.copyOf(key, length), sig});
        for (int bit : orEmpty(test.sigBits)) all.add(new byte[][] {key, flipped(sig, bit)});
        for (int bit : orEmpty(test.keyBits)) all.add(new byte[][] {flipped(key, bit), sig});
        return all.isEmpty() ? List.<byte[][]>of(new byte[][] {key, sig}) : all;
    }

    private static int[] orEmpty(int[] list) {
        return list == null ? new int[0] : list;
    }

    private static byte[] flipped(byte[] bytes, int bit) {
        byte[] changed = bytes.clone();
        changed[bit / 8] ^= (byte) (1 << (bit % 8));
        return changed;
    }

    /**
     * The library draws randomizers itself, so most of these signatures are verified only; the
     * deterministic one of each set is made.
     */
    private static int signs() throws Exception {
        int made = 0;
        for (Group group : groups("sign")) {
            var set = Aioli.ParameterSet.valueOf(group.set.toUpperCase().replace('-', '_'));
            try (var key = Aioli.SigningKey.fromSeed(set, bytes(group.seed))) {
                demand(Arrays.equals(key.seed(), bytes(group.seed)), set);
                for (Test test : group.tests) {
                    byte[] message = bytes(test.msg);
                    demand(Aioli.verify(set, key.publicKey(), message, bytes(test.sig)), set + ", test " + test.tcId);
                    if (test.flags.contains("Deterministic")) {
                        demand(Arrays.equals(key.signDeterministic(message), bytes(test.sig)), set);
                        made++;
                    }
                }
            }
        }
        demand(made == Aioli.ParameterSet.values().length, made + " signatures made");
        return made;
    }
}

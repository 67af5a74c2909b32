import java.nio.file.*;
import java.security.*;
import java.security.spec.*;
import java.util.*;
import org.bouncycastle.pqc.jcajce.provider.BouncyCastlePQCProvider;
import org.bouncycastle.pqc.jcajce.spec.MayoParameterSpec;

/**
 * The side of Bouncy Castle in a cross-test, over files in a directory, for each set SET:
 *
 * make: writes bc-SET.key, bc-SET.pub and bc-SET.sig, a signature of the file "message".
 * check: reads our-SET.key and our-SET.pub, verifies our-SET.sig under the second and by-us-SET.sig
 *     under its own key, and writes by-bc-SET.sig, signed with the first.
 */
class BouncyCastle {
    static final Map<String, AlgorithmParameterSpec> SETS =
        new TreeMap<>(Map.of("mayo1", MayoParameterSpec.mayo1, "mayo2", MayoParameterSpec.mayo2, "mayo3",
            MayoParameterSpec.mayo3, "mayo5", MayoParameterSpec.mayo5));

    static Path directory;

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(new BouncyCastlePQCProvider());
        directory = Path.of(arguments[1]);
        for (String set : SETS.keySet()) {
            if (arguments[0].equals("make")) {
                make(set);
            } else {
                check(set);
            }
        }
    }

    static void make(String set) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("Mayo", "BCPQC");
        generator.initialize(SETS.get(set));
        KeyPair pair = generator.generateKeyPair();
        write("bc-" + set + ".key", pair.getPrivate().getEncoded());
        write("bc-" + set + ".pub", pair.getPublic().getEncoded());
        write("bc-" + set + ".sig", sign(pair.getPrivate()));
    }

    static void check(String set) throws Exception {
        KeyFactory factory = KeyFactory.getInstance("Mayo", "BCPQC");
        PrivateKey ourKey = factory.generatePrivate(new PKCS8EncodedKeySpec(read("our-" + set + ".key")));
        PublicKey ourPublic = factory.generatePublic(new X509EncodedKeySpec(read("our-" + set + ".pub")));
        PublicKey theirs = factory.generatePublic(new X509EncodedKeySpec(read("bc-" + set + ".pub")));
        demand(ourPublic, "our-" + set + ".sig");
        demand(theirs, "by-us-" + set + ".sig");
        write("by-bc-" + set + ".sig", sign(ourKey));
    }

    static byte[] sign(PrivateKey key) throws Exception {
        Signature signature = Signature.getInstance("Mayo", "BCPQC");
        signature.initSign(key);
        signature.update(read("message"));
        return signature.sign();
    }

    /** Fails unless the signature is valid, and is not after a bit of it has been flipped. */
    static void demand(PublicKey key, String name) throws Exception {
        byte[] bytes = read(name);
        if (!verify(key, bytes)) {
            throw new AssertionError(name + " is not valid");
        }
        bytes[bytes.length / 2] ^= 1;
        if (verify(key, bytes)) {
            throw new AssertionError(name + " is valid with a flipped bit");
        }
    }

    static boolean verify(PublicKey key, byte[] bytes) throws Exception {
        Signature signature = Signature.getInstance("Mayo", "BCPQC");
        signature.initVerify(key);
        signature.update(read("message"));
        return signature.verify(bytes);
    }

    static byte[] read(String name) throws Exception {
        return Files.readAllBytes(directory.resolve(name));
    }

    static void write(String name, byte[] bytes) throws Exception {
        Files.write(directory.resolve(name), bytes);
    }
}

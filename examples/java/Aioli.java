import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;

/** MAYO signatures by the library for C, which the Foreign Function and Memory API calls. */
public final class Aioli {
    private Aioli() {}

    /** A parameter set, with the number that the library has for it. */
    public enum ParameterSet {
        MAYO1(0x301), MAYO2(0x302), MAYO3(0x303), MAYO5(0x305),
        MAYO1_ROUND2(0x201),
        /** Broken at its claimed level: for comparison only. */
        MAYO2_ROUND2(0x202),
        MAYO3_ROUND2(0x203), MAYO5_ROUND2(0x205);

        private final int number;

        ParameterSet(int number) {
            this.number = number;
        }
    }

    /** A failure: a status of aioli.h, such as 2 for a wrong length, and what was expected. */
    public static final class AioliException extends RuntimeException {
        private static final long serialVersionUID = 1;
        public static final int INVALID_SIGNATURE = 1;
        public static final int WRONG_LENGTH = 2;
        public final int status;

        AioliException(int status, String message) {
            super(message);
            this.status = status;
        }
    }

    /**
     * A secret key. Several threads may use it at a time. {@link #close} erases it, when none does;
     * one that is forgotten is erased some time after its last use.
     */
    public static final class SigningKey implements AutoCloseable {
        private MemorySegment key;
        private final Cleaner.Cleanable erased;

        private SigningKey(MemorySegment key) {
            this.key = key;
            // A reference to `this` would keep it alive, so the parameter is used and not the field.
            this.erased = CLEANER.register(this, () -> free(key));
        }

        /** Makes a fresh key. */
        public static SigningKey generate(ParameterSet set) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment place = arena.allocate(POINTER);
                check(status(GENERATE, set.number, place));
                return new SigningKey(place.get(POINTER, 0));
            }
        }

        /** Makes the key of a seed, which is the encoding of a secret key. The caller erases it. */
        public static SigningKey fromSeed(ParameterSet set, byte[] seed) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment place = arena.allocate(POINTER);
                MemorySegment bytes = input(arena, seed);
                try {
                    check(status(FROM_SEED, set.number, bytes, bytes.byteSize(), place));
                } finally {
                    bytes.fill((byte) 0);
                }
                return new SigningKey(place.get(POINTER, 0));
            }
        }

        /** Returns the seed, the encoding of the key. Secret: erase it after use. */
        public byte[] seed() {
            return output((room, length) -> status(SEED, key, room, length));
        }

        /** Computes the public key. */
        public byte[] publicKey() {
            return output((room, length) -> status(PUBLIC, key, room, length));
        }

        /** Signs with fresh randomness. */
        public byte[] sign(byte[] message) {
            return sign(SIGN, message);
        }

        /** Signs without randomness: the same key and message always give the same signature. */
        public byte[] signDeterministic(byte[] message) {
            return sign(SIGN_DETERMINISTIC, message);
        }

        private byte[] sign(MethodHandle function, byte[] message) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment text = input(arena, message);
                return output((room, length) -> status(function, key, text, text.byteSize(), room, length));
            }
        }

        private byte[] output(Output function) {
            try {
                return Aioli.output(function);
            } finally {
                // The cleaner must not free the key during a call.
                Reference.reachabilityFence(this);
            }
        }

        /** Erases the key. Afterwards its methods throw. */
        @Override
        public void close() {
            erased.clean();
            key = MemorySegment.NULL;
        }
    }

    /** Tells whether a signature is valid. One of a wrong length is refused by an exception. */
    public static boolean verify(ParameterSet set, byte[] publicKey, byte[] message, byte[] signature) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = input(arena, publicKey);
            MemorySegment text = input(arena, message);
            MemorySegment given = input(arena, signature);
            int status = status(VERIFY, set.number, key, key.byteSize(), text, text.byteSize(), given, given.byteSize());
            if (status != AioliException.INVALID_SIGNATURE) {
                check(status);
            }
            return status == OK;
        }
    }

    /** A function that writes into room, whose length it reads and writes. */
    private interface Output {
        int call(MemorySegment room, MemorySegment length);
    }

    /** The bytes that a function writes, after it has told how much room it needs. */
    private static byte[] output(Output function) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment length = arena.allocate(SIZE);
            int status = function.call(MemorySegment.NULL, length);
            if (status != BUFFER_TOO_SMALL) {
                check(status);
            }
            MemorySegment room = arena.allocate(length.get(SIZE, 0));
            check(function.call(room, length));
            byte[] bytes = room.asSlice(0, length.get(SIZE, 0)).toArray(ValueLayout.JAVA_BYTE);
            // A seed may be in it.
            room.fill((byte) 0);
            return bytes;
        }
    }

    private static MemorySegment input(Arena arena, byte[] bytes) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    }

    private static void check(int status) {
        if (status == OK) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(500);
            MemorySegment length = arena.allocateFrom(SIZE, text.byteSize());
            status(ERROR_MESSAGE, text, length);
            byte[] bytes = text.asSlice(0, Math.min(length.get(SIZE, 0), 500)).toArray(ValueLayout.JAVA_BYTE);
            throw new AioliException(status, new String(bytes, StandardCharsets.UTF_8));
        }
    }

    private static int status(MethodHandle function, Object... arguments) {
        try {
            return (int) function.invokeWithArguments(arguments);
        } catch (Throwable thrown) {
            throw new AssertionError("a call of the library for C", thrown);
        }
    }

    private static void free(MemorySegment key) {
        try {
            FREE.invokeExact(key);
        } catch (Throwable thrown) {
            throw new AssertionError("a call of the library for C", thrown);
        }
    }

    private static final int OK = 0;
    private static final int BUFFER_TOO_SMALL = 3;
    private static final Cleaner CLEANER = Cleaner.create();
    private static final Linker LINKER = Linker.nativeLinker();
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    /** {@code size_t}, on the systems of 64 bits that this is for. */
    private static final ValueLayout.OfLong SIZE = ValueLayout.JAVA_LONG;
    private static final AddressLayout POINTER = ValueLayout.ADDRESS;
    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup("libaioli.so.0.1", Arena.global());
    private static final MethodHandle ERROR_MESSAGE = function("error_message", POINTER, POINTER);
    private static final MethodHandle GENERATE = function("signing_key_generate", INT, POINTER);
    private static final MethodHandle FROM_SEED = function("signing_key_from_seed", INT, POINTER, SIZE, POINTER);
    private static final MethodHandle SEED = function("signing_key_seed", POINTER, POINTER, POINTER);
    private static final MethodHandle PUBLIC = function("signing_key_public", POINTER, POINTER, POINTER);
    private static final MethodHandle SIGN = function("sign", POINTER, POINTER, SIZE, POINTER, POINTER);
    private static final MethodHandle SIGN_DETERMINISTIC =
            function("sign_deterministic", POINTER, POINTER, SIZE, POINTER, POINTER);
    private static final MethodHandle VERIFY = function("verify", INT, POINTER, SIZE, POINTER, SIZE, POINTER, SIZE);
    private static final MethodHandle FREE =
            LINKER.downcallHandle(LIBRARY.findOrThrow("aioli_signing_key_free"), FunctionDescriptor.ofVoid(POINTER));

    /** A function of the library that returns a status. */
    private static MethodHandle function(String name, MemoryLayout... parameters) {
        return LINKER.downcallHandle(LIBRARY.findOrThrow("aioli_" + name), FunctionDescriptor.of(INT, parameters));
    }
}

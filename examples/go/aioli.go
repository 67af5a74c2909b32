// Package aioli makes and verifies MAYO signatures.
//
// It has two ways behind one interface. With cgo it calls the library for C; without cgo
// (CGO_ENABLED=0) it runs the same library as a WebAssembly module, which is part of the program.
package aioli

import (
	"fmt"
	"runtime"
)

// Algorithm is a parameter set, by the number that the library for C gives it.
type Algorithm uint32

// The sets of round 3, then those of round 2.
const (
	Mayo1       Algorithm = 0x301
	Mayo2       Algorithm = 0x302
	Mayo3       Algorithm = 0x303
	Mayo5       Algorithm = 0x305
	Mayo1Round2 Algorithm = 0x201
	Mayo2Round2 Algorithm = 0x202 // broken at its claimed level: for comparison only
	Mayo3Round2 Algorithm = 0x203
	Mayo5Round2 Algorithm = 0x205
)

var names = map[Algorithm]string{
	Mayo1: "mayo1", Mayo2: "mayo2", Mayo3: "mayo3", Mayo5: "mayo5",
	Mayo1Round2: "mayo1-round2", Mayo2Round2: "mayo2-round2", Mayo3Round2: "mayo3-round2", Mayo5Round2: "mayo5-round2",
}

// String returns the name of the set, such as "mayo1-round2".
func (a Algorithm) String() string {
	if name, ok := names[a]; ok {
		return name
	}
	return fmt.Sprintf("Algorithm(%#x)", uint32(a))
}

// AlgorithmByName returns the set of a name, and fails with UnknownAlgorithm if there is none.
func AlgorithmByName(name string) (Algorithm, error) {
	for algorithm, known := range names {
		if known == name {
			return algorithm, nil
		}
	}
	return 0, &Error{UnknownAlgorithm, fmt.Sprintf("%q is the name of no parameter set", name)}
}

// Status is the kind of a failure, by its number in aioli.h. errors.Is tells whether an error has
// it: errors.Is(err, aioli.InvalidSignature).
type Status uint32

// The statuses that these functions return.
const (
	InvalidSignature Status = 1
	WrongLength      Status = 2
	UnknownAlgorithm Status = 4
	NoKey            Status = 6 // the key was closed
	Randomness       Status = 7
	SigningFailed    Status = 8
	Internal         Status = 13

	bufferTooSmall Status = 3
)

func (s Status) Error() string { return fmt.Sprintf("aioli: status %d", uint32(s)) }

// Error is a failure, with what was wrong and what was expected. It never holds a secret.
type Error struct {
	Status  Status
	Message string
}

func (e *Error) Error() string { return "aioli: " + e.Message }

// Unwrap returns the status.
func (e *Error) Unwrap() error { return e.Status }

// Key is a secret key. Several goroutines may use it at a time. Close erases it; one that is
// forgotten is erased some time after its last use.
type Key struct {
	handle  handle
	cleanup runtime.Cleanup
}

// Generate makes a fresh key.
func Generate(algorithm Algorithm) (*Key, error) {
	return newKey(generate(algorithm))
}

// KeyFromSeed makes the key of a seed, which is the encoding of a secret key. The caller erases the
// seed.
func KeyFromSeed(algorithm Algorithm, seed []byte) (*Key, error) {
	return newKey(fromSeed(algorithm, seed))
}

func newKey(handle handle, err error) (*Key, error) {
	if err != nil {
		return nil, err
	}
	key := &Key{handle: handle}
	key.cleanup = runtime.AddCleanup(key, free, handle)
	return key, nil
}

// Close erases the key, which nobody else may be using. Afterwards its methods fail with NoKey.
func (k *Key) Close() {
	var none handle
	k.cleanup.Stop()
	free(k.handle)
	k.handle = none
}

// PublicKey computes the public key.
func (k *Key) PublicKey() ([]byte, error) {
	defer runtime.KeepAlive(k)
	return publicKey(k.handle)
}

// Seed returns the seed of the key, its encoding. It is secret: erase it after use.
func (k *Key) Seed() ([]byte, error) {
	defer runtime.KeepAlive(k)
	return seed(k.handle)
}

// Sign signs a message with fresh randomness.
func (k *Key) Sign(message []byte) ([]byte, error) {
	defer runtime.KeepAlive(k)
	return sign(k.handle, message)
}

// SignDeterministic signs a message without randomness: the same key and message always give the
// same signature.
func (k *Key) SignDeterministic(message []byte) ([]byte, error) {
	defer runtime.KeepAlive(k)
	return signDeterministic(k.handle, message)
}

// Verify returns nil if the signature is valid, an error with the status InvalidSignature if it is
// not, and one with WrongLength if key or signature have not the length of the set.
func Verify(algorithm Algorithm, publicKey, message, signature []byte) error {
	return verify(algorithm, publicKey, message, signature)
}

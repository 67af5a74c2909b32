package aioli

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var message = []byte("a message")

// got returns a function that takes a result and its error, which must be nil.
func got(t *testing.T) func([]byte, error) []byte {
	return func(bytes []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
}

// refused demands an error of this status that says this.
func refused(t *testing.T, err error, status Status, says string) {
	t.Helper()
	if !errors.Is(err, status) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, not status %d with %q", err, status, says)
	}
}

func fresh(t *testing.T, algorithm Algorithm) *Key {
	t.Helper()
	key, err := Generate(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestEverySetSignsAndVerifies(t *testing.T) {
	for algorithm, name := range names {
		if named, err := AlgorithmByName(name); named != algorithm || err != nil {
			t.Errorf("%s is %v, %v", name, named, err)
		}
		key := fresh(t, algorithm)
		defer key.Close()
		public := got(t)(key.PublicKey())
		signature := got(t)(key.Sign(message))
		if bytes.Equal(signature, got(t)(key.Sign(message))) {
			t.Errorf("%s: signatures are not randomized", name)
		}
		if err := Verify(algorithm, public, message, signature); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		refused(t, Verify(algorithm, public, message[1:], signature), InvalidSignature, "not valid")
		refused(t, Verify(algorithm, public, message, signature[1:]), WrongLength, "bytes, not")
		refused(t, Verify(algorithm, public[1:], message, signature), WrongLength, "bytes, not")
		signature[7] ^= 1
		refused(t, Verify(algorithm, public, message, signature), InvalidSignature, "not valid")
		got(t)(nil, Verify(algorithm, public, nil, got(t)(key.Sign(nil))))
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	_, err := AlgorithmByName("mayo4")
	refused(t, err, UnknownAlgorithm, `"mayo4"`)
	_, err = Generate(4)
	refused(t, err, UnknownAlgorithm, "0x4")
	refused(t, Verify(4, nil, nil, nil), UnknownAlgorithm, "0x4")
	_, err = KeyFromSeed(Mayo1, make([]byte, 23))
	refused(t, err, WrongLength, "24 bytes, not 23")
	_, err = KeyFromSeed(Mayo1, nil)
	refused(t, err, WrongLength, "24 bytes, not 0")
	key := fresh(t, Mayo1)
	key.Close()
	key.Close()
	_, err = key.Sign(message)
	refused(t, err, NoKey, "key is NULL")
}

func TestManyGoroutinesUseOneKey(t *testing.T) {
	key := fresh(t, Mayo2)
	defer key.Close()
	public := got(t)(key.PublicKey())
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			text := bytes.Repeat(message, i)
			signature, err := key.Sign(text)
			if err == nil {
				err = Verify(Mayo2, public, text, signature)
			}
			if err != nil {
				t.Error(err)
			}
			// The message about a failure belongs to the call that failed.
			refused(t, Verify(Mayo2, public[:i], text, signature), WrongLength, "2928 bytes")
			_, err = KeyFromSeed(Mayo5, make([]byte, i))
			refused(t, err, WrongLength, "40 bytes")
		})
	}
	group.Wait()
}

type group struct {
	Set, Seed, PublicKey string
	Tests                []vector
}

type vector struct {
	TcId                                     int
	Comment, Msg, Sig, Result                string
	Flags                                    []string
	SigLengths, SigBits, KeyLengths, KeyBits []int
}

func groups(t *testing.T, file string) []group {
	folder := os.Getenv("AIOLI_VECTORS")
	if folder == "" {
		t.Fatal("AIOLI_VECTORS does not name the folder of test vectors")
	}
	text := got(t)(os.ReadFile(filepath.Join(folder, file+".json")))
	var contents struct {
		NumberOfTests int
		TestGroups    []group
	}
	if err := json.Unmarshal(text, &contents); err != nil {
		t.Fatal(err)
	}
	for _, group := range contents.TestGroups {
		contents.NumberOfTests -= len(group.Tests)
	}
	if contents.NumberOfTests != 0 {
		t.Fatalf("%s: %d tests more than it has", file, contents.NumberOfTests)
	}
	return contents.TestGroups
}

func resized(bytes []byte, length int) []byte {
	return append(slices.Clone(bytes[:min(length, len(bytes))]), make([]byte, max(length-len(bytes), 0))...)
}

func flipped(bytes []byte, bit int) []byte {
	changed := slices.Clone(bytes)
	changed[bit/8] ^= 1 << (bit % 8)
	return changed
}

// each calls judge with every key and signature that a test stands for.
func (v *vector) each(key, signature []byte, judge func(key, signature []byte)) {
	for _, length := range v.SigLengths {
		judge(key, resized(signature, length))
	}
	for _, length := range v.KeyLengths {
		judge(resized(key, length), signature)
	}
	for _, bit := range v.SigBits {
		judge(key, flipped(signature, bit))
	}
	for _, bit := range v.KeyBits {
		judge(flipped(key, bit), signature)
	}
	if v.SigLengths == nil && v.KeyLengths == nil && v.SigBits == nil && v.KeyBits == nil {
		judge(key, signature)
	}
}

func TestVectorsVerify(t *testing.T) {
	for algorithm, name := range names {
		count := 0
		for _, group := range groups(t, "verify-"+name) {
			if group.Set != name {
				t.Fatalf("%s in the file of %s", group.Set, name)
			}
			for _, test := range group.Tests {
				text := got(t)(hex.DecodeString(test.Msg))
				public := got(t)(hex.DecodeString(group.PublicKey))
				test.each(public, got(t)(hex.DecodeString(test.Sig)), func(key, signature []byte) {
					err := Verify(algorithm, key, text, signature)
					refused := errors.Is(err, InvalidSignature) || errors.Is(err, WrongLength)
					if valid := test.Result == "valid"; valid != (err == nil) || valid == refused {
						t.Errorf("%s, test %d, %s: %v", name, test.TcId, test.Comment, err)
					}
					count++
				})
			}
		}
		if count < 250 {
			t.Errorf("%s: only %d signatures", name, count)
		}
	}
}

// The library draws randomizers itself, so most of these signatures are verified only; the
// deterministic one of each set is made.
func TestVectorsSign(t *testing.T) {
	made := 0
	for _, group := range groups(t, "sign") {
		algorithm, err := AlgorithmByName(group.Set)
		if err != nil {
			t.Fatal(err)
		}
		key, err := KeyFromSeed(algorithm, got(t)(hex.DecodeString(group.Seed)))
		if err != nil {
			t.Fatal(err)
		}
		defer key.Close()
		if seed := got(t)(key.Seed()); hex.EncodeToString(seed) != group.Seed {
			t.Errorf("%s: seed %x", group.Set, seed)
		}
		public := got(t)(key.PublicKey())
		for _, test := range group.Tests {
			text, signature := got(t)(hex.DecodeString(test.Msg)), got(t)(hex.DecodeString(test.Sig))
			if err := Verify(algorithm, public, text, signature); err != nil {
				t.Errorf("%s, test %d: %v", group.Set, test.TcId, err)
			}
			if slices.Contains(test.Flags, "Deterministic") {
				if !bytes.Equal(got(t)(key.SignDeterministic(text)), signature) {
					t.Errorf("%s, test %d: another signature", group.Set, test.TcId)
				}
				made++
			}
		}
	}
	if made != len(names) {
		t.Errorf("%d signatures of %d sets were made", made, len(names))
	}
}

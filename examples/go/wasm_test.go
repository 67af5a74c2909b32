//go:build !cgo

package aioli

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

var secret = bytes.Repeat([]byte("a secret"), 3)

// left tells whether the secret is anywhere in the memory of the module.
func left() bool {
	m := shared()
	m.Lock()
	defer m.Unlock()
	all, _ := m.instance.Memory().Read(0, m.instance.Memory().Size())
	return bytes.Contains(all, secret)
}

func keyOfSecret(t *testing.T) *Key {
	key, err := KeyFromSeed(Mayo1, secret)
	if err != nil {
		t.Fatal(err)
	}
	got(t)(key.Sign(message))
	if seed := got(t)(key.Seed()); !bytes.Equal(seed, secret) || !left() {
		t.Error("the key does not have its seed in the module's memory")
	}
	return key
}

func TestNoSecretIsLeftInTheModule(t *testing.T) {
	keyOfSecret(t).Close()
	if left() {
		t.Error("the seed is left in the module's memory")
	}
}

func TestAForgottenKeyIsErased(t *testing.T) {
	keyOfSecret(t)
	for left() {
		runtime.GC()
	}
}

func TestEachModuleHasItsOwnRandomness(t *testing.T) {
	var seeds [2][]byte
	for i := range seeds {
		c := begin(newModule())
		key, err := c.key("aioli_signing_key_generate", uint64(Mayo1))
		if err != nil {
			t.Fatal(err)
		}
		seeds[i] = got(t)(c.output("aioli_signing_key_seed", key))
		c.end()
	}
	if bytes.Equal(seeds[0], seeds[1]) {
		t.Error("two modules made one key")
	}
}

func TestAMessageThatDoesNotFitIsRefused(t *testing.T) {
	key := fresh(t, Mayo1)
	defer key.Close()
	for _, length := range []int{memory - 1<<20, memory + 1} {
		if _, err := key.Sign(make([]byte, length)); err == nil || !strings.Contains(err.Error(), "do not fit") {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
	got(t)(key.Sign(make([]byte, memory/2)))
}

func TestAModuleThatTrappedIsNotUsedAgain(t *testing.T) {
	m := newModule()
	c := begin(m)
	c.run("aioli_signing_key_free", memory-8)
	c.end()
	refused(t, c.err, Internal, "aioli_signing_key_free")
	c = begin(m)
	defer c.end()
	c.must("aioli_sizes", uint64(Mayo1), c.room(16))
	refused(t, c.err, Internal, "cannot be used")
}

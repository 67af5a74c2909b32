//go:build !cgo

package aioli

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// A key is an address in the memory of the module.
type handle = uint64

//go:embed aioli.wasm
var code []byte

// module is the library in an engine. It does one thing at a time.
type module struct {
	sync.Mutex
	instance api.Module
	// broken is why the module cannot be used, if it cannot.
	broken error
}

// The module that all keys share. It is compiled when it is needed first.
var shared = sync.OnceValue(newModule)

func newModule() *module {
	ctx := context.Background()
	// The memory does not move when it grows, so no copy of a secret is left behind.
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memory >> 16).WithMemoryCapacityFromMax(true)
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return &module{broken: err}
	}
	// The engine's own source of randomness always gives the same bytes.
	options := wazero.NewModuleConfig().WithRandSource(rand.Reader).WithStartFunctions("__wasm_call_ctors")
	instance, err := runtime.InstantiateWithConfig(ctx, code, options)
	return &module{instance: instance, broken: err}
}

// memory is the most that the module may have, with a message, in bytes.
const memory = 64 << 20

// call is a use of the module. After a failure, which err tells, its methods do nothing.
type call struct {
	*module
	blocks []block
	err    error
}

type block struct{ address, length uint64 }

func begin(m *module) *call {
	m.Lock()
	call := &call{module: m}
	if m.broken != nil {
		call.err = fmt.Errorf("aioli: the WebAssembly module cannot be used: %w", m.broken)
	}
	return call
}

// end erases and frees the arguments and the stack, where secrets may be.
func (c *call) end() {
	if c.broken == nil {
		for _, block := range c.blocks {
			clear(c.bytes(block.address, block.length))
			_, _ = c.instance.ExportedFunction("free").Call(context.Background(), block.address)
		}
		// The stack grows downwards from this address to 0.
		clear(c.bytes(0, c.instance.ExportedGlobal("__stack_pointer").Get()))
	}
	c.Unlock()
}

// bytes are those of the module's memory.
func (c *call) bytes(address, length uint64) []byte {
	bytes, _ := c.instance.Memory().Read(uint32(address), uint32(length))
	return bytes
}

// run calls a function. One that traps leaves a module that is not to be trusted, and is erased.
func (c *call) run(name string, arguments ...uint64) uint64 {
	if c.err != nil {
		return 0
	}
	results, err := c.instance.ExportedFunction(name).Call(context.Background(), arguments...)
	if err != nil {
		c.err = &Error{Internal, fmt.Sprintf("%s: %v", name, err)}
		c.broken = c.err
		clear(c.bytes(0, uint64(c.instance.Memory().Size())))
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// must calls a function that returns a status.
func (c *call) must(name string, arguments ...uint64) {
	if status := Status(c.run(name, arguments...)); c.err == nil && status != 0 {
		text, length := c.room(500), c.number(500)
		c.run("aioli_error_message", text, length)
		if c.err == nil {
			c.err = &Error{status, string(c.bytes(text, c.value(length)))}
		}
	}
}

// room allocates memory until the end of the call.
func (c *call) room(length int) uint64 {
	if length > memory {
		c.err = tooLong(length)
	}
	address := c.run("malloc", max(uint64(length), 1))
	if c.err == nil && address == 0 {
		c.err = tooLong(length)
	}
	if c.err != nil {
		return 0
	}
	c.blocks = append(c.blocks, block{address, uint64(length)})
	return address
}

func tooLong(length int) error {
	return fmt.Errorf("aioli: %d bytes do not fit into the %d MiB of the WebAssembly module", length, memory>>20)
}

// input copies bytes into the module.
func (c *call) input(bytes []byte) (address, length uint64) {
	address = c.room(len(bytes))
	if c.err == nil {
		copy(c.bytes(address, uint64(len(bytes))), bytes)
	}
	return address, uint64(len(bytes))
}

// number allocates a number that a function reads and writes.
func (c *call) number(value uint32) uint64 {
	address := c.room(4)
	if c.err == nil {
		c.instance.Memory().WriteUint32Le(uint32(address), value)
	}
	return address
}

func (c *call) value(address uint64) uint64 {
	value, _ := c.instance.Memory().ReadUint32Le(uint32(address))
	return uint64(value)
}

// output asks a function how much room it needs, and returns what it writes there. The room and its
// length are the last arguments.
func (c *call) output(name string, arguments ...uint64) ([]byte, error) {
	length := c.number(0)
	c.must(name, append(arguments, 0, length)...)
	if !errors.Is(c.err, bufferTooSmall) {
		return nil, c.err
	}
	c.err = nil
	room := c.room(int(c.value(length)))
	c.must(name, append(arguments, room, length)...)
	if c.err != nil {
		return nil, c.err
	}
	return append([]byte{}, c.bytes(room, c.value(length))...), nil
}

func (c *call) key(name string, arguments ...uint64) (handle, error) {
	key := c.number(0)
	c.must(name, append(arguments, key)...)
	if c.err != nil {
		return 0, c.err
	}
	return c.value(key), nil
}

func generate(algorithm Algorithm) (handle, error) {
	c := begin(shared())
	defer c.end()
	return c.key("aioli_signing_key_generate", uint64(algorithm))
}

func fromSeed(algorithm Algorithm, seed []byte) (handle, error) {
	c := begin(shared())
	defer c.end()
	bytes, length := c.input(seed)
	return c.key("aioli_signing_key_from_seed", uint64(algorithm), bytes, length)
}

func free(key handle) {
	c := begin(shared())
	defer c.end()
	c.run("aioli_signing_key_free", key)
}

func publicKey(key handle) ([]byte, error) {
	c := begin(shared())
	defer c.end()
	return c.output("aioli_signing_key_public", key)
}

func seed(key handle) ([]byte, error) {
	c := begin(shared())
	defer c.end()
	return c.output("aioli_signing_key_seed", key)
}

func sign(key handle, message []byte) ([]byte, error) {
	return signBy("aioli_sign", key, message)
}

func signDeterministic(key handle, message []byte) ([]byte, error) {
	return signBy("aioli_sign_deterministic", key, message)
}

func signBy(name string, key handle, message []byte) ([]byte, error) {
	c := begin(shared())
	defer c.end()
	text, length := c.input(message)
	return c.output(name, key, text, length)
}

func verify(algorithm Algorithm, publicKey, message, signature []byte) error {
	c := begin(shared())
	defer c.end()
	key, keyLength := c.input(publicKey)
	text, textLength := c.input(message)
	sig, sigLength := c.input(signature)
	c.must("aioli_verify", uint64(algorithm), key, keyLength, text, textLength, sig, sigLength)
	return c.err
}

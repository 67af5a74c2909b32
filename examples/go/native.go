//go:build cgo

package aioli

// #cgo pkg-config: aioli
// #include <aioli.h>
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

type handle = *C.AioliSigningKey

// call runs a function of the library. What the library says about a failure belongs to the thread,
// so the goroutine stays on its thread until that is read.
func call(function func() C.AioliStatus) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := function()
	if status == C.AIOLI_STATUS_OK {
		return nil
	}
	text := make([]byte, 500)
	length := C.size_t(len(text))
	C.aioli_error_message((*C.char)(unsafe.Pointer(&text[0])), &length)
	return &Error{Status(status), string(text[:min(int(length), len(text))])}
}

func input(bytes []byte) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.SliceData(bytes)), C.size_t(len(bytes))
}

// output asks a function how much room it needs, and returns what it writes there.
func output(function func(*C.uint8_t, *C.size_t) C.AioliStatus) ([]byte, error) {
	var length C.size_t
	err := call(func() C.AioliStatus { return function(nil, &length) })
	if !errors.Is(err, bufferTooSmall) {
		return nil, err
	}
	bytes := make([]byte, length)
	room, _ := input(bytes)
	return bytes, call(func() C.AioliStatus { return function(room, &length) })
}

func generate(algorithm Algorithm) (key handle, err error) {
	err = call(func() C.AioliStatus { return C.aioli_signing_key_generate(C.uint32_t(algorithm), &key) })
	return
}

func fromSeed(algorithm Algorithm, seed []byte) (key handle, err error) {
	bytes, length := input(seed)
	err = call(func() C.AioliStatus {
		return C.aioli_signing_key_from_seed(C.uint32_t(algorithm), bytes, length, &key)
	})
	return
}

func free(key handle) { C.aioli_signing_key_free(key) }

func publicKey(key handle) ([]byte, error) {
	return output(func(out *C.uint8_t, length *C.size_t) C.AioliStatus {
		return C.aioli_signing_key_public(key, out, length)
	})
}

func seed(key handle) ([]byte, error) {
	return output(func(out *C.uint8_t, length *C.size_t) C.AioliStatus {
		return C.aioli_signing_key_seed(key, out, length)
	})
}

func sign(key handle, message []byte) ([]byte, error) {
	text, textLength := input(message)
	return output(func(out *C.uint8_t, length *C.size_t) C.AioliStatus {
		return C.aioli_sign(key, text, textLength, out, length)
	})
}

func signDeterministic(key handle, message []byte) ([]byte, error) {
	text, textLength := input(message)
	return output(func(out *C.uint8_t, length *C.size_t) C.AioliStatus {
		return C.aioli_sign_deterministic(key, text, textLength, out, length)
	})
}

func verify(algorithm Algorithm, publicKey, message, signature []byte) error {
	key, keyLength := input(publicKey)
	text, textLength := input(message)
	sig, sigLength := input(signature)
	return call(func() C.AioliStatus {
		return C.aioli_verify(C.uint32_t(algorithm), key, keyLength, text, textLength, sig, sigLength)
	})
}

// Runs the kernels of one parameter set for the program at the other end of standard input and
// output. Like a driver, it offers memory, copies and launches. Each buffer has exactly the size
// asked for, so a sanitizer sees its end.
#include "shim.h"
// The kernels are in the same translation unit, as a GPU gets them.
#include "kernels.cu"

namespace shim {
#ifdef SHIM_THREADS
static pthread_barrier_t all;
void barrier() { pthread_barrier_wait(&all); }

static void run_block(u32 threads, const Thread& block, const std::function<void()>& kernel) {
    pthread_barrier_init(&all, nullptr, threads);
    std::vector<std::thread> running;
    for (u32 i = 0; i < threads; i++)
        running.emplace_back([&, i] {
            now = block;
            now.thread.x = i;
            kernel();
        });
    for (auto& thread : running) thread.join();
    pthread_barrier_destroy(&all);
}
#else
struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    bool waiting, ended;
};
constexpr size_t STACK = 256 * 1024;
static std::vector<Fiber> fibers;
static ucontext_t scheduler;
static Fiber* running;
static const std::function<void()>* body;

void barrier() {
    running->waiting = true;
    swapcontext(&running->context, &scheduler);
}

static void enter() {
    (*body)();
    running->ended = true;
}

static void run_block(u32 threads, const Thread& block, const std::function<void()>& kernel) {
    body = &kernel;
    if (fibers.size() < threads) fibers.resize(threads);
    for (u32 i = 0; i < threads; i++) {
        Fiber& fiber = fibers[i];
        if (!fiber.stack) fiber.stack.reset(new char[STACK]);
        fiber.ended = false;
        getcontext(&fiber.context);
        fiber.context.uc_stack.ss_sp = fiber.stack.get();
        fiber.context.uc_stack.ss_size = STACK;
        fiber.context.uc_link = &scheduler;
        makecontext(&fiber.context, enter, 0);
    }
    for (u32 ended = 0; ended < threads;) {
        u32 waiting = 0;
        ended = 0;
        for (u32 i = 0; i < threads; i++) {
            running = &fibers[i];
            running->waiting = false;
            now = block;
            now.thread.x = i;
            swapcontext(&scheduler, &running->context);
            waiting += running->waiting;
            ended += running->ended;
        }
        if (waiting != 0 && ended != 0) {
            fprintf(stderr, "harness: %u threads wait at a barrier that %u threads never reach\n", waiting, ended);
            abort();
        }
    }
}
#endif

void launch(u32 blocks, u32 threads, u32 shared_bytes, const std::function<void()>& kernel) {
    Thread block = {{0}, {0}, {threads}, {blocks}, nullptr};
    for (u32 i = 0; i < blocks; i++) {
        // Not zero, so that the results show if a kernel reads a word that it has not written.
        block.shared = (uint4*)malloc(shared_bytes);
        memset((void*)block.shared, 0xa5, shared_bytes);
        block.block.x = i;
        run_block(threads, block, kernel);
        free(block.shared);
    }
}
}  // namespace shim

template <class T> static T get() {
    T value;
    if (fread(&value, sizeof value, 1, stdin) != 1) exit(0);
    return value;
}

static void put(const void* bytes, size_t length) {
    fwrite(bytes, 1, length, stdout);
    fflush(stdout);
}

struct Buffer { u8* bytes; u32 length; };
static std::vector<Buffer> buffers;

static Buffer& buffer(u32 offset, u32 length, u32 id) {
    Buffer& found = buffers.at(id);
    if (offset > found.length || length > found.length - offset) {
        fprintf(stderr, "harness: bytes %u to %u of a buffer of %u\n", offset, offset + length, found.length);
        abort();
    }
    return found;
}

union Argument { u8* address; u32 number; };

template <class... T, size_t... I>
static std::function<void()> call(void (*kernel)(T...), std::vector<Argument> given, std::index_sequence<I...>) {
    if (given.size() != sizeof...(T)) {
        fprintf(stderr, "harness: %zu arguments given, %zu expected\n", given.size(), sizeof...(T));
        abort();
    }
    return [=] {
        auto convert = [](Argument argument, auto kind) {
            using Kind = typename decltype(kind)::type;
            if constexpr (std::is_pointer_v<Kind>) return (Kind)argument.address;
            else return (Kind)argument.number;
        };
        kernel(convert(given[I], std::common_type<T>())...);
    };
}
template <class... T> static std::function<void()> call(void (*kernel)(T...), const std::vector<Argument>& given) {
    return call(kernel, given, std::index_sequence_for<T...>());
}

static std::function<void()> find(const char* name, const std::vector<Argument>& given) {
#define KERNEL(kernel) if (!strcmp(name, #kernel)) return call(kernel, given);
    KERNEL(keygen_seeds)
    KERNEL(keygen_map)
    KERNEL(sign_seeds)
    KERNEL(sign_map)
    KERNEL(sign_solve)
    KERNEL(verify_targets)
    KERNEL(verify_map)
    KERNEL(expand_map)
    KERNEL(verify_expanded_map)
    fprintf(stderr, "harness: no kernel %s\n", name);
    abort();
}

int main() {
    for (;;) {
        switch (get<u8>()) {
        case 'A': {
            const u32 length = get<u32>(), id = (u32)buffers.size();
            buffers.push_back({(u8*)malloc(length), length});
            memset(buffers.back().bytes, 0x5a, length);
            put(&id, sizeof id);
            break;
        }
        case 'F': {
            Buffer& freed = buffers.at(get<u32>());
            free(freed.bytes);
            freed = {nullptr, 0};
            break;
        }
        case 'W': {
            const u32 id = get<u32>(), offset = get<u32>(), length = get<u32>();
            if (fread(buffer(offset, length, id).bytes + offset, 1, length, stdin) != length) return 0;
            break;
        }
        case 'R': {
            const u32 id = get<u32>(), offset = get<u32>(), length = get<u32>();
            put(buffer(offset, length, id).bytes + offset, length);
            break;
        }
        case 'Z': {
            Buffer& cleared = buffers.at(get<u32>());
            memset(cleared.bytes, 0, cleared.length);
            break;
        }
        case 'C': put(&aioli_launch, sizeof aioli_launch); break;
        case 'L': {
            char name[32] = {};
            if (fread(name, 1, get<u8>() & 31, stdin) == 0) return 0;
            const u32 blocks = get<u32>(), threads = get<u32>(), shared = get<u32>(), count = get<u32>();
            std::vector<Argument> given(count);
            for (Argument& argument : given) {
                const u8 kind = get<u8>();
                const u32 value = get<u32>();
                if (kind == 'b') argument.address = buffers.at(value).bytes;
                else if (kind == 'n') argument.address = nullptr;
                else argument.number = value;
            }
            shim::launch(blocks, threads, shared, find(name, given));
            break;
        }
        default: fprintf(stderr, "harness: unknown command\n"); abort();
        }
    }
}

// The header in C++, and one key used by several threads at a time.

#include "aioli.h"
#include "check.h"
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct Free {
    void operator()(AioliSigningKey *key) const { aioli_signing_key_free(key); }
    void operator()(AioliExpandedSigningKey *key) const { aioli_expanded_signing_key_free(key); }
    void operator()(AioliExpandedVerifyingKey *key) const { aioli_expanded_verifying_key_free(key); }
};

static const uint8_t *bytes(const std::string &text) { return reinterpret_cast<const uint8_t *>(text.data()); }

static void threads(uint32_t set) {
    AioliSizes sizes;
    OK(aioli_sizes(set, &sizes));
    AioliSigningKey *made = nullptr;
    OK(aioli_signing_key_generate(set, &made));
    std::unique_ptr<AioliSigningKey, Free> key(made);
    AioliExpandedSigningKey *made_expanded = nullptr;
    OK(aioli_signing_key_expand(key.get(), &made_expanded));
    std::unique_ptr<AioliExpandedSigningKey, Free> expanded(made_expanded);
    std::vector<uint8_t> public_key(sizes.public_key);
    std::size_t public_length = public_key.size();
    OK(aioli_signing_key_public(key.get(), public_key.data(), &public_length));
    AioliExpandedVerifyingKey *made_public = nullptr;
    OK(aioli_verifying_key_expand(set, public_key.data(), public_key.size(), &made_public));
    std::unique_ptr<AioliExpandedVerifyingKey, Free> expanded_public(made_public);

    std::atomic<int> valid{0};
    std::vector<std::thread> running;
    for (int thread = 0; thread < 4; thread++) {
        running.emplace_back([&, thread] {
            for (int i = 0; i < 5; i++) {
                std::string message = "thread " + std::to_string(thread) + ", message " + std::to_string(i);
                std::vector<uint8_t> signature(sizes.signature);
                std::size_t length = signature.size();
                OK(i % 2 ? aioli_sign(key.get(), bytes(message), message.size(), signature.data(), &length)
                         : aioli_expanded_sign(expanded.get(), bytes(message), message.size(), signature.data(), &length));
                OK(aioli_expanded_verify(expanded_public.get(), bytes(message), message.size(), signature.data(), length));
                STATUS(AIOLI_STATUS_INVALID_SIGNATURE,
                       aioli_expanded_verify(expanded_public.get(), bytes(message), 3, signature.data(), length));
                valid++;
            }
            // The message of a failure belongs to its thread.
            char text[200];
            std::size_t length = sizeof text;
            OK(aioli_error_message(text, &length));
            CHECK(std::string(text, length).find("not valid") != std::string::npos);
        });
    }
    for (std::thread &thread : running) {
        thread.join();
    }
    CHECK(valid == 20);
    std::size_t length = 0;
    OK(aioli_error_message(nullptr, &length));
    CHECK(length == 0);
}

int main() {
    for (uint32_t set : {AIOLI_MAYO1, AIOLI_MAYO2, AIOLI_MAYO3, AIOLI_MAYO5, AIOLI_MAYO1_ROUND2, AIOLI_MAYO2_ROUND2,
                         AIOLI_MAYO3_ROUND2, AIOLI_MAYO5_ROUND2}) {
        threads(set);
    }
    std::puts("passed");
}

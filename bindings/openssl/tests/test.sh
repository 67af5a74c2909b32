#!/usr/bin/env bash
# Tests the provider by the commands openssl and aioli, in a folder that it empties first.
#
#     OPENSSL_MODULES=FOLDER-OF-AIOLI.SO tests/test.sh OPENSSL AIOLI FOLDER SET...
#
# With TLS_EXAMPLES=FOLDER, the examples client and server of crates/aioli-rustls are the other side
# of handshakes.
set -euo pipefail
openssl=$(type -P "$1") aioli=$(realpath "$2") folder=$3
sets=("${@:4}")
configuration=$(cd "$(dirname "$0")/.." && pwd)/openssl.cnf

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
{
    sed 's/^# *\(round2 = yes\).*/\1/' "$configuration"
    printf '[req]\ndistinguished_name = name\n[name]\n'
    printf '[ca]\nbasicConstraints = critical, CA:TRUE\nkeyUsage = keyCertSign\n'
    printf '[leaf]\nsubjectAltName = DNS:localhost\n'
} > round2.cnf
# OpenSSL passes over the errors of a provider that it activates by itself.
sed 's/^# *round2 = yes.*/round2 = maybe/; /^.aioli_provider/,$ s/^activate.*//' "$configuration" > wrong.cnf
sed 's/^# *\(prefix = [^ ]*\).*/\1/' "$configuration" > prefix.cnf
echo "a message for both" > message
echo "a message for b0th" > other
export OPENSSL_CONF=$PWD/round2.cnf

openssl() { "$openssl" "$@" 2> errors || { echo "failed: openssl $*" >&2; cat errors >&2; return 1; }; }
aioli() { "$aioli" "$@" 2> errors || { echo "failed: aioli $*" >&2; cat errors >&2; return 1; }; }
refused() { # refused WHY COMMAND...: the command must fail, and say why
    local why=$1
    shift
    if "$@" > errors 2>&1; then
        echo "not refused: $*" >&2
        return 1
    elif ! grep -q -e "$why" errors; then
        echo "refused, but without '$why': $*" >&2
        cat errors >&2
        return 1
    fi
}
flip() { # flip FROM TO: changes the last byte but two
    local at=$(($(stat -c %s "$1") - 3)) byte
    byte=$(od -An -tu1 -j$at -N1 "$1")
    cp "$1" "$2"
    printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of="$2" bs=1 seek=$at conv=notrunc status=none
}

keys() {
    openssl genpkey -algorithm "$set" -out key
    openssl pkey -in key -pubout -out pub
    openssl pkey -in key -check -noout > /dev/null
    openssl pkey -in key -text -noout > text
    grep -q "^$set Private-Key" text
    openssl pkey -pubin -in pub -text -noout > text
    grep -q "^$set Public-Key" text
    openssl pkey -in key -outform DER -out key.der
    openssl pkey -inform DER -in key.der -out again
    cmp key again
    openssl pkey -pubin -in pub -outform DER -out pub.der
    openssl pkey -pubin -inform DER -in pub.der -out again
    cmp pub again
    openssl pkey -in key -aes-256-cbc -passout pass:right -out encrypted
    grep -q "BEGIN ENCRYPTED PRIVATE KEY" encrypted
    openssl pkey -in encrypted -passin pass:right -out again
    cmp key again
    refused "Could not" "$openssl" pkey -in encrypted -passin pass:wrong
    openssl pkcs8 -topk8 -in key -v2 aes-128-cbc -passout pass:right -outform DER -out encrypted.der
    openssl pkcs8 -inform DER -in encrypted.der -passin pass:right -out again
    cmp key again
    # The public key in the file is another one than that of the seed.
    flip key.der flipped.der
    refused "Could not" "$openssl" pkey -inform DER -in flipped.der
}

signatures() {
    openssl pkeyutl -sign -rawin -inkey key -in message -out signature
    openssl pkeyutl -verify -rawin -pubin -inkey pub -in message -sigfile signature > /dev/null
    openssl dgst -sign key -out of-dgst message
    openssl dgst -verify pub -signature of-dgst message > /dev/null
    openssl pkeyutl -verify -rawin -pubin -inkey pub -in message -sigfile of-dgst > /dev/null
    flip signature flipped
    for why in "flipped message" "signature other" "message message"; do
        read -r one text <<< "$why"
        refused "Verification Failure" "$openssl" pkeyutl -verify -rawin -pubin -inkey pub -in "$text" -sigfile "$one"
        refused "erif.*ail\|Error" "$openssl" dgst -verify pub -signature "$one" "$text"
    done
    refused "do not choose" "$openssl" dgst -sha256 -sign key -out none message
}

certificates() {
    openssl req -x509 -new -key key -subj /CN=authority -days 9 -extensions ca -out ca.pem
    openssl verify -CAfile ca.pem ca.pem > /dev/null
    openssl req -new -newkey "$set" -passout pass:right -keyout leaf-encrypted.key -subj /CN=leaf -out leaf.csr
    openssl pkey -in leaf-encrypted.key -passin pass:right -out leaf.key
    openssl req -in leaf.csr -verify -noout > /dev/null
    openssl x509 -req -in leaf.csr -CA ca.pem -CAkey key -CAcreateserial -days 9 \
        -extfile "$OPENSSL_CONF" -extensions leaf -out leaf.pem
    openssl verify -CAfile ca.pem leaf.pem > /dev/null
    openssl x509 -in leaf.pem -text -noout > text
    grep -q "Signature Algorithm: $set" text
    openssl x509 -in leaf.pem -outform DER -out leaf.der
    flip leaf.der flipped.der
    openssl x509 -inform DER -in flipped.der -out flipped.pem
    refused "verification failed" "$openssl" verify -CAfile ca.pem flipped.pem
    openssl req -in leaf.csr -outform DER -out csr.der
    flip csr.der flipped.der
    openssl req -inform DER -in flipped.der -out flipped.csr
    refused "did not match" "$openssl" x509 -req -in flipped.csr -CA ca.pem -CAkey key -CAcreateserial
}

with_aioli() {
    aioli verify -q -k pub --signature signature message
    refused "NOT VALID" "$aioli" verify -k pub --signature signature other
    aioli sign -q --raw -k key -o by-aioli message
    openssl pkeyutl -verify -rawin -pubin -inkey pub -in message -sigfile by-aioli > /dev/null
    aioli pubkey key -o from-key > /dev/null
    cmp pub from-key
    aioli keygen --set "$set" --no-passphrase -o theirs > /dev/null
    openssl pkey -in theirs.key -out again
    cmp theirs.key again
    openssl pkey -in theirs.key -pubout -out again
    cmp theirs.pub again
    openssl pkeyutl -sign -rawin -inkey theirs.key -in message -out by-openssl
    aioli verify -q -k theirs.pub --signature by-openssl message
}

# OpenSSL before 3.2 knows neither CMS nor TLS with algorithms of a provider.
cms() {
    openssl cms -sign -binary -nodetach -md sha512 -in message -signer leaf.pem -inkey leaf.key -outform DER -out cms.der
    openssl cms -verify -binary -inform DER -in cms.der -CAfile ca.pem -purpose any -out again
    cmp message again
    flip cms.der flipped.der
    refused "fail" "$openssl" cms -verify -binary -inform DER -in flipped.der -CAfile ca.pem -purpose any

    # The command verifies what OpenSSL signs, and the other way.
    local verify=(cms -verify -binary -cades -inform PEM -CAfile ca.pem -purpose any)
    for digest in sha256 sha384 sha512; do
        openssl cms -sign -binary -cades -md $digest -in message -signer leaf.pem -inkey leaf.key -outform PEM -out theirs
        aioli verify --bind-key --ca ca.pem --signature theirs message > verdict
        grep -qx "message: valid, signed by CN=leaf" verdict
    done
    openssl cms -sign -binary -md sha512 -in message -signer leaf.pem -inkey leaf.key -outform DER -out theirs
    aioli verify -q -k leaf.pem --signature theirs message
    refused "NOT VALID" "$aioli" verify --ca ca.pem --signature theirs other
    refused "does not bind" "$aioli" verify --ca ca.pem --bind-key --signature theirs message
    aioli sign -q -k leaf.key --certificate leaf.pem -o ours.p7s message
    openssl "${verify[@]}" -in ours.p7s -content message -out again
    cmp message again
    refused "fail" "$openssl" "${verify[@]}" -in ours.p7s -content other
    refused "erif" "$openssl" cms -verify -binary -inform PEM -in ours.p7s -content message -CAfile wrong-ca.pem \
        -purpose any
}

port=$((20000 + $$ % 20000))
start() { # start WORD COMMAND...: a server, which is ready when it has said the word
    local word=$1
    shift
    : > server
    "$@" > server 2>&1 &
    server=$!
    trap "kill $server" EXIT
    appears "$word" server
}
stop() {
    kill "$server"
    trap - EXIT
    wait "$server" 2> /dev/null || true
}
appears() { # appears TEXT FILE: waits until the file contains the text
    local tries
    for tries in {1..300}; do
        grep -q -e "$1" "$2" && return
        sleep 0.1
    done
    echo "no '$1' in $2" >&2
    return 1
}

tls() {
    start ACCEPT "$openssl" s_server -accept "127.0.0.1:$port" -cert leaf.pem -key leaf.key -tls1_3 -www
    echo | openssl s_client -connect "127.0.0.1:$port" -CAfile ca.pem -verify_return_error -tls1_3 > client
    grep -q "Verify return code: 0 (ok)" client
    grep -q "signature type: $set" client
    refused "verify error" "$openssl" s_client -connect "127.0.0.1:$port" -CAfile wrong-ca.pem -verify_return_error \
        -tls1_3 < /dev/null
    stop
}

# OpenSSL and rustls, both ways.
rustls() {
    # This server sends each line back in reverse.
    start ACCEPT "$openssl" s_server -accept "127.0.0.1:$port" -cert leaf.pem -key leaf.key -tls1_3 -rev
    "$TLS_EXAMPLES/client" "127.0.0.1:$port" localhost ca.pem round2 > answer 2> errors || { cat errors >&2; return 1; }
    grep -q "a key of $set\$" errors
    echo "enil a" | cmp - answer
    refused "InvalidCertificate" "$TLS_EXAMPLES/client" "127.0.0.1:$port" localhost wrong-ca.pem round2
    refused "NotValidForName" "$TLS_EXAMPLES/client" "127.0.0.1:$port" example.org ca.pem round2
    stop
    start listening "$TLS_EXAMPLES/server" "127.0.0.1:$port" leaf.pem leaf.key round2
    : > client
    {
        echo "a line that comes back"
        appears "^a line that comes back$" client
        echo Q
    } | openssl s_client -connect "127.0.0.1:$port" -CAfile ca.pem -verify_return_error -tls1_3 > client
    grep -q "Verify return code: 0 (ok)" client
    grep -q "signature type: $set" client
    refused "verify error" "$openssl" s_client -connect "127.0.0.1:$port" -CAfile wrong-ca.pem -verify_return_error \
        -tls1_3 < /dev/null
    stop
}

version=$("$openssl" version | cut -d' ' -f2)
IFS=. read -r major minor _ <<< "$version"

# Round 2 is offered on demand alone; the names can be changed; a wrong switch is named.
OPENSSL_CONF=$configuration refused "mayo1-round2" "$openssl" genpkey -algorithm mayo1-round2
OPENSSL_CONF=$PWD/prefix.cnf openssl genpkey -algorithm aioli-mayo1 -out prefixed
OPENSSL_CONF=$PWD/prefix.cnf openssl pkey -in prefixed -pubout -out prefixed.pub
OPENSSL_CONF=$PWD/prefix.cnf refused "mayo1" "$openssl" genpkey -algorithm mayo1
OPENSSL_CONF=$PWD/wrong.cnf refused "round2 is yes or no, not maybe" \
    "$openssl" genpkey -provider aioli -provider default -algorithm mayo1
# Beside another provider that has the same identifiers under its own names.
cp "$OPENSSL_MODULES/aioli.so" twin.so
{
    sed 's/^aioli = .*/&\ntwin = twin_provider/' "$configuration"
    printf '[twin_provider]\nactivate = 1\nmodule = %s\nprefix = twin-\n' "$PWD/twin.so"
} > twin.cnf
for name in mayo1 twin-mayo1; do
    OPENSSL_CONF=$PWD/twin.cnf openssl genpkey -algorithm "$name" -out beside.key
    OPENSSL_CONF=$PWD/twin.cnf openssl pkey -in beside.key -pubout -out beside.pub
    OPENSSL_CONF=$PWD/twin.cnf openssl pkeyutl -sign -rawin -inkey beside.key -in message -out signature
    openssl pkeyutl -verify -rawin -pubin -inkey beside.pub -in message -sigfile signature > /dev/null
done
openssl genpkey -algorithm mayo1 -out wrong.key
openssl req -x509 -new -key wrong.key -subj /CN=authority -days 9 -extensions ca -out wrong-ca.pem

for set in "${sets[@]}"; do
    mkdir "$set"
    cp message other wrong-ca.pem "$set"
    cd "$set"
    keys
    signatures
    certificates
    with_aioli
    if ((major > 3 || minor >= 2)); then
        cms
        tls
        [[ ${TLS_EXAMPLES:-} ]] && rustls
    fi
    cd ..
    echo "OpenSSL $version, $set: as it should be"
done

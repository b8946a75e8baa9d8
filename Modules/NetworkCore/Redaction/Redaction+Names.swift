// What names say of their values.
extension Redaction {
    private static func list(_ words: String) -> Set<String> {
        Set(words.split(whereSeparator: \.isWhitespace).map(String.init))
    }

    /// The fields whose values are shown, in small letters.
    static let legibleFields = list(
        """
        etag if-match if-none-match x-request-id request-id x-correlation-id x-amzn-requestid x-amz-request-id
        x-amz-id-2 cf-ray traceparent tracestate x-trace-id x-b3-traceid x-cloud-trace-context date last-modified
        content-type content-length
        """)

    /// What the names of secrets have in them, and the words that have it in them too.
    private static let parts = list(
        """
        token secret password passwd pwd passphrase passcode signature signedrequest hmac credential session sessid auth
        apikey accesskey masterkey privatekey secretkey subscriptionkey signingkey functionskey assertion jwt saml cookie
        verifier bearer ticket csrf xsrf dpop mnemonic seedphrase recoveryphrase securityanswer onetimecode appcheck
        apihash privateexponent
        """
    ).map { Array($0.utf8) }
    private static let ordinary = list("author coauthor tokeniz tokenis secretar obsession possession")
    private static let sensitiveNames = list(
        "code state nonce cnonce sid refresh cvv cvc connectionstring mfa fa twofactor jwk")

    /// The words that end the name of a secret; those before them with which it is none, as in `publicKey`; and those
    /// that need no mark, as in `userpin`, and with which a code is one.
    private static let lastWords = list("key keys pin pins mpin tpin pass pw psk sig sign tokens")
    private static let purposes = list(
        """
        public foreign partition sort cache surrogate object s row column field range group map unique translation page
        message start end next cursor routing project issue file image hot drop boarding star call max total prompt
        completion input output zodiac currency
        """)
    private static let owners = list(
        """
        user new old current admin db card sms email app device mfa tfa fa factor recovery backup verification verify
        confirmation security access pin invite invitation reset activation unlock pairing magic login otp totp phone
        mobile oob validation signin
        """)

    /// The last words of names that say something about a secret, and of those of a copy.
    private static let measures = list("count length limit remaining expiry expires ttl at in policy required enabled")
    private static let copies = list("confirm confirmation again repeat new old hash hex")

    /// Whether a name denotes a secret: of a query item, a form field, a header field or a member of an object. So do
    /// `newPwd`, `user_pin` and `Fastly-Key`, and not `keyboard`, `publicKey` and `token_count`.
    ///
    /// - Complexity: O(*n*) in the length of the name, some 3 µs: a cache asks for each field.
    package static func isSensitive(_ name: String) -> Bool {
        var words = words(of: name)
        guard let end = words.last, !measures.contains(end) else { return false }
        // An author is no secret, and an authorization is one.
        words.removeAll { word in
            ordinary.contains { word.hasPrefix($0) && !["authoriz", "authoris"].contains(where: word.hasPrefix) }
        }
        let letters = Array(words.joined().utf8)
        while words.count > 1, copies.contains(words[words.count - 1]) { words.removeLast() }
        guard let last = words.popLast() else { return false }
        let previous = words.last ?? ""
        if lastWords.contains(last) { return !purposes.contains(previous) }
        return sensitiveNames.contains(words.joined() + last) || (words + [last]).contains { $0.hasSuffix("otp") }
            || letters.indices.contains { start in parts.contains { letters[start...].starts(with: $0) } }
            || lastWords.union(["code", "codes"]).contains {
                let own = last == $0 ? [previous, words.suffix(2).joined()] : [String(last.dropLast($0.count))]
                return last.hasSuffix($0) && !owners.isDisjoint(with: own)
            }
    }

    /// The words of a name in small letters: two of `newPwd`, `new_pwd` and `NEW-PWD2`.
    private static func words(of name: String) -> [String] {
        let bytes = [0] + Array(name.utf8) + [0]
        var marked: [UInt8] = []
        for index in bytes.indices.dropFirst().dropLast() {
            let (before, byte, after) = (bytes[index - 1], bytes[index], bytes[index + 1])
            if byte.isCapital, !before.isCapital || (after.isLetter && !after.isCapital) { marked.append(0x20) }
            marked.append(byte.isLetter ? byte | 0x20 : 0x20)
        }
        return marked.split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a value under a name that can denote a secret is a word of another kind: `NOT_FOUND` under `code`,
    /// `done` under `state`, `title` under `key`, `Bearer` under `token_type`.
    package static func isWord(_ value: String, under name: String) -> Bool {
        let letters = name.lowercased().filter(\.isLetter)
        let mayBeOne =
            list("code state key keys").contains(letters)
            || ["type", "hint", "kind", "method"].contains(where: letters.hasSuffix)
        return mayBeOne && value.utf8.allSatisfy { $0 == 0x5F || $0.isLetter }
    }

    private static let harmlessNames = list(
        """
        cursor after before limit offset page perpage pagesize size count first last skip top sort sortby order orderby
        q query search fields include expand lang language locale format version v apiversion type category tag tags
        status since until from to date year month day id ids width height
        """)

    /// Whether the value of a query item may be shown: the name is of paging, sorting, searching or selecting, and the
    /// value has no secret in itself. Any other is redacted, because an API is free to name its secrets.
    static func isHarmless(_ name: String, _ value: String = "", depth: Int = CarriedSecrets.maximumDepth) -> Bool {
        harmlessNames.contains(name.lowercased().filter(\.isLetter))
            && CarriedSecrets(in: value, depth: depth).values.isEmpty
    }

    private static let labels = list("name key field id type path param property attribute")
    private static let labelled = list("value values val newvalue text content")

    /// The members of a JSON object, each with the name that says what it is: of `{"name":"pin","value":"1234"}`, the
    /// value has the name `pin`.
    package static func members(of object: [String: Any]) -> [(key: String, name: String, value: Any)] {
        let label = object.first { labels.contains($0.key.lowercased()) && isSensitive($0.value as? String ?? "") }
        return object.map { key, value in
            (key, labelled.contains(key.lowercased()) ? label?.value as? String ?? key : key, value)
        }
    }

    private static let announcingWords = list(
        """
        token tokens secret secrets password passwords reset invite invites invitation invitations verify verification
        confirm confirmation activate activation magic otp unsubscribe key keys apikey apikeys ticket tickets code
        codes signin login
        """)

    /// Whether the segment of a path after this one may be a secret: `reset-password`, `magic-link`, `tokens`.
    static func announcesSecret(_ segment: Substring) -> Bool {
        segment.lowercased().split { !$0.isLetter }.contains { announcingWords.contains(String($0)) }
    }
}

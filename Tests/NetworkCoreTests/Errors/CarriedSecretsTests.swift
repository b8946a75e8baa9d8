import Foundation
import NetworkRecording
import TestSupport
import Testing

@testable import NetworkCore

/// G17: the names that denote a secret, and what is a secret because its place hides it.
@Suite struct CarriedSecretsTests {
    static let sensitive = """
        password passwd pwd newPwd old_pwd userPwd PWD dbpwd pw newPw pass userPass db_pass DBPASS adminpass passphrase
        passcode passWord pass-word pwdConfirm pinConfirmation newPassword2 passwordHash userPin user_pin userpin cardPIN
        PIN pin2 pinNew pinCode pincode smsOtp sms_otp smsotp OTP otp_value emailOtp totp TOTP_SECRET otpCode mfaCode
        twoFactorCode 2faCode tfa_code smsCode loginCode emailCode recoveryCodes backup_codes verification_code
        confirmationCode securityCode resetCode activationCode inviteCode unlock_code oneTimeCode one_time_password code
        device_code userCode key apiKey api_key APIKEY API-Key x-api-key X-ApiKeys masterKey master_key MASTERKEY
        encryptionKey privateKey sharedKey hmacKey appKey appkey applicationKey consumerKey accountKey storageKey
        primaryKey serviceKey licenseKey signingKey deploy_key AWSAccessKeyId secretAccessKey sig sign signature
        signed_request secret clientSecret secretAnswer securityAnswer seedPhrase recovery_phrase mnemonic
        connectionString token accessToken id_token tokens authTokens session sessionId JSESSIONID PHPSESSID sid
        SAMLResponse assertion jwt bearer csrfmiddlewaretoken _xsrf nonce cnonce state refresh refresh_token cvv cvc
        credentials cookie ticket authorization Authorisation oauth_verifier code_verifier authorToken user[password]
        DD-API-KEY DD-APPLICATION-KEY Fastly-Key CB-ACCESS-KEY CB-ACCESS-SIGN CB-ACCESS-PASSPHRASE KC-API-SIGN API-Sign
        X-BAPI-SIGN OK-ACCESS-SIGN X-MBX-APIKEY X-Auth-Key X-Auth-Token Proxy-Authorization X-Vault-Token PRIVATE-TOKEN
        X-Parse-Master-Key X-Parse-REST-API-Key X-Appwrite-Key X-Hasura-Admin-Secret X-Functions-Key aeg-sas-key
        Ocp-Apim-Subscription-Key X-RapidAPI-Key X-Insert-Key X-License-Key X-Goog-Api-Key X-GitHub-OTP X-User-Pin
        X-Hub-Signature-256 Stripe-Signature X-Sentry-Auth X-Zumo-Auth X-Firebase-AppCheck CF-Access-Jwt-Assertion
        X-Amz-Security-Token X-Amz-Signature X-Amz-Credential Idempotency-Key DPoP Set-Cookie X-CSRF-Token X-Plex-Token
        oobCode phone_code validation_code sign_in_code mfa 2fa twoFactor mpin tpin psk api_hash jwk private_exponent
        storageKeys encryptionKeys pins userPins
        """

    static let readable = """
        keyboard keyboardLayout keyword keywords monkey donkey hockey turkey whiskey hotkey keynote keyName keyId key_type
        publicKey public_key foreignKey partition_key sortKey cacheKey X-Cache-Key Surrogate-Key objectKey s3Key
        translationKey projectKey nextKey startkey_docid pinned isPinned pinnedAt pinterest pinboard spin spinner opinion
        shipping mapPin pinCount pin_count tokenizer tokenization tokenize tokeniser token_count tokenExpiresAt max_tokens
        total_tokens promptTokens tokenLimit author authors author_id coAuthor authorName authority secretary secretariat
        obsession possession design designer signal assign assignee signIn sign_in_count signUp signedIn last_sign_in_at
        zodiacSign callSign passenger passengers passport compass bypass boardingPass passed passive passRate
        code_challenge statusCode errorCode error_code countryCode zipCode postal_code currencyCode productCode promo_code
        encoding decoder barcode timecode statement stateCode estate nonCentral announcement inside resident sidebar
        refreshInterval refreshedAt hotplate footprint hotpot option laptop passwordPolicy sessionCount expires_in user
        username userName email name title id uuid locale language page limit cursor query Accept User-Agent
        Content-Length X-Client-Version X-Request-ID Content-Disposition Retry-After Zürich 12 _ publicKeys hotkeys
        mapPins jwks jwks_uri title_fa mfa_enabled authorHash api checked_in_at
        """

    @Test func `names of secrets are told by their words`() {
        for name in Self.sensitive.split(whereSeparator: \.isWhitespace) {
            #expect(Redaction.isSensitive(String(name)), "\(name)")
        }
        for name in Self.readable.split(whereSeparator: \.isWhitespace) {
            #expect(!Redaction.isSensitive(String(name)), "\(name)")
        }
    }

    /// Expects of a request that texts are hidden where a server quotes them, and that others are not.
    private func expect(
        _ link: String = "https://x.net/", field: (name: String, value: String)? = nil, body: String = "",
        hides secrets: [String], shows others: [String] = []
    ) throws {
        var head = HTTPRequestHead(method: .post, url: url(link))
        if let field { try head.set(field.name, to: field.value) }
        let redaction = Redaction(of: HTTPTransportRequest(head: head, body: HTTPBody(Data(body.utf8))))
        for secret in secrets { #expect(redaction.text("no \(secret).") == "no redacted.", "\(link) \(body)") }
        for other in others { #expect(redaction.text("no \(other).") == "no \(other).", "\(link) \(body)") }
    }

    @Test(arguments: [
        ("reset-password/8f3k2m9x", "8f3k2m9x"), ("magic-link/ab%2Fcd12345/go", "ab/cd12345"),
        ("a;jsessionid=0A1B2C", "0A1B2C"), ("token=s3cr3t/x", "s3cr3t"), ("a?t=canary-5ecret", "canary-5ecret"),
        ("?3q9Zk1mPw7xy", "3q9Zk1mPw7xy"), ("?code_verifier=v%2B1x", "v+1x"), ("#access_token=abc123", "abc123"),
        ("?variables=%7B%22password%22%3A%22hunter22%22%7D", "hunter22"),
        ("?query=mutation%7Blogin(pin%3A%20%22hunter22%22)%7D", "hunter22"),
        ("?q=https%3A%2F%2Fx.net%2F%3Ftoken%3Dabcd1", "abcd1"), ("?from=%2Freset%2F8f3k2m9x", "8f3k2m9x"),
    ])
    func `what a URL hides is hidden where a server quotes it`(link: String, secret: String) throws {
        try expect("https://x.net/\(link)", hides: [secret])
        #expect(!Redaction.standard.url(url("https://x.net/\(link)")).contains(secret))
        try expect(field: ("Referer", "https://x.net/\(link)"), hides: [secret])
    }

    @Test func `words, short values and pages of a URL stay in the texts of its response`() throws {
        let link = "https://ada:pa55-w@x.net/articles?state=published&include_drafts=true&q=tea-pot-12&page=12345678"
        try expect(link, hides: ["pa55-w"], shows: ["ada", "published", "true", "tea-pot-12", "12345678", "articles"])
    }

    @Test(arguments: [
        (
            #"Digest username="ada", realm="x", nonce="n0nce-12", cnonce="0a4f", response="6629fae49393a053""#,
            ["6629fae49393a053", "0a4f", "n0nce-12"], ["ada"]
        ),
        (
            "AWS4-HMAC-SHA256 Credential=AKIA/2026, SignedHeaders=host;x-amz-date, Signature=fe5f80f77d5fa3be",
            ["fe5f80f77d5fa3be"], ["host"]
        ),
        (#"OAuth oauth_consumer_key="ck12", oauth_signature="tnnArxj06c%2Bv""#, ["tnnArxj06c+v", "ck12"], []),
        ("SharedKey acct:c2lnbmF0dXJl", ["c2lnbmF0dXJl"], ["acct"]), ("key=AAAAfcm1", ["AAAAfcm1"], []),
        ("SharedAccessSignature sr=https%3a%2f%2fx&sig=ab%2Fcd%3D&skn=root", ["ab/cd="], ["root"]),
        (#"Hawk id="dh37fgj492je", mac="6R4rV5iE+NPoym=""#, ["6R4rV5iE+NPoym="], []),
        ("Token token = ab1", ["ab1"], []),
        ("ApiKey \(Data("id1:s3cr3t!".utf8).base64EncodedString())", ["s3cr3t!"], ["id1"]), ("Bearer ab1", ["ab1"], []),
        ("Basic \(Data("client:pa55-word%21".utf8).base64EncodedString())", ["pa55-word%21", "pa55-word!"], []),
    ])
    func `each parameter of each scheme is a secret`(value: String, secrets: [String], others: [String]) throws {
        for name in ["Authorization", "Proxy-Authorization", "X-Sentry-Auth"] {
            try expect(field: (name, value), hides: secrets, shows: others)
        }
    }

    @Test func `cookies are secrets with and without quotation marks, and so is JSON in them`() throws {
        let cookies = #"a="biscuit-1"; b=2,3; sid="xyz12"; prefs=%7B%22token%22%3A%22abc12%22%7D; theme=dark"#
        try expect(field: ("Cookie", cookies), hides: ["biscuit-1", "xyz12", "abc12"], shows: ["dark", "2,3"])
        try expect(field: ("Cookie", "sid,2=xyz34"), hides: ["xyz34"])
        try expect(field: ("X-Context", #"{"user":{"password":"hunter22"}}"#), hides: ["hunter22"])
        try expect(field: ("X-API-Key", "api-key-1"), hides: ["api-key-1"])
    }

    @Test(arguments: [
        (#"{"payload":"{\"password\":\"hunter22\",\"n\":[\"{\\\"pin\\\":1234}\"]}"}"#, ["hunter22", "1234"], []),
        (
            #"{"query":"mutation { login(name: \"ada\", password: \"hunter22\", pin: 123456, code: 404) }"}"#,
            ["hunter22", "123456"], ["ada", "404"]
        ),
        (
            #"[{"name":"password","value":"hunter22"},{"name":"title","value":"Green tea"}]"#, ["hunter22"],
            ["Green tea"]
        ),
        (#"{"Type":"password","Value":"hunter22","temporary":false}"#, ["hunter22"], ["false"]),
        (
            #"{"newPwd":"abc1","author":"Ada","keyboard":"qwerty","max_tokens":4096}"#, ["abc1"],
            ["Ada", "qwerty", "4096"]
        ),
        (#"{"callback":"https://x.net/cb?token=abcd1","note":"at 12:3456, state: published"}"#, ["abcd1"], ["3456"]),
        (
            #"{"user":"ada-lovelace","auth":{"list":["inner-1234"]},"refresh_token":"refresh-1"}"#,
            ["inner-1234", "refresh-1"], ["ada-lovelace"]
        ), ("payload=%7B%22password%22%3A%22hunter22%22%7D&name=ada", ["hunter22"], ["ada"]),
        ("payload=https%3A%2F%2Fuser%3Apa55word%40hook.example%2F&name=ada", ["pa55word"], ["ada", "user"]),
        ("payload=https%3A%2F%2Fuser%3Apa%252Fss55word%40hook.example%2F", ["pa/ss55word"], ["user"]),
        (
            #"{"dsn":"postgres://app:hunter22@db/x","next":"/a?token=v%2B1xy","path":"/articles","or":"and/or"}"#,
            ["hunter22", "v+1xy"], ["/articles", "and/or"]
        ),
    ])
    func `texts that are JSON, arguments and named values are searched`(
        body: String, secrets: [String], others: [String]
    ) throws {
        let type = body.hasPrefix("payload") ? "application/x-www-form-urlencoded" : "application/json"
        try expect(field: ("Content-Type", type), body: body, hides: secrets, shows: others)
        guard !body.contains("mutation") else { return }
        let recorded = try #require(Redaction.standard.body(Data(body.utf8), contentType: type))
        for secret in secrets { #expect(!recorded.contains(secret), "\(recorded)") }
    }

    @Test func `a text part of a form is searched as JSON, and one that is too large is not known`() {
        for (text, isComplete) in [
            (#"{"password":"hunter22"}"#, true), ("https://x.net/?pin=hunter22", true),
            (String(repeating: "x", count: 1_100_000), false),
        ] {
            var form = MultipartForm()
            form.append("payload", text)
            var carried = CarriedSecrets()
            carried.add(form)
            #expect(carried.areComplete == isComplete && carried.values == (isComplete ? ["hunter22"] : []))
        }
    }
}

import Foundation
import NetworkCore
import NetworkTestSupport
import Testing

@Suite("Response formats")
struct ResponseFormatTests {
    let decoder = JSONCoding.standard.makeDecoder()

    func response(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(head: HTTPResponseHead(status: status), body: Data(text.utf8))
    }

    @Test func `the value of an envelope is its data`() throws {
        let envelope = response(#"{"success":true,"code":"OK","data":{"id":7,"title":"x"},"errors":null,"meta":{}}"#)
        #expect(try EnvelopeFormat().value(Article.self, from: envelope) == Article(id: 7, title: "x"))
    }

    @Test func `an envelope with success false is an error`() {
        let envelope = response(
            #"{"success":false,"code":"QUOTA","message":"Too many","data":null,"errors":[],"meta":{"requestId":"r-1"}}"#
        )
        let expected = ErrorEnvelope(code: "QUOTA", message: "Too many", requestId: "r-1")
        #expect(throws: expected) { try EnvelopeFormat().value(Article.self, from: envelope) }
        #expect(throws: expected) { try EnvelopeFormat().check(envelope) }
    }

    @Test(arguments: ["", "{}", "null", "<html>", #"{"success":true}"#])
    func `a response from which no value is read may have any body`(body: String) throws {
        try EnvelopeFormat().check(response(body))
        PlainJSONFormat().check(response(body))
    }

    @Test(arguments: ["", "{}", #"{"success":true}"#, #"{"success":true,"data":null}"#, "[]"])
    func `an envelope without data is no value`(body: String) {
        #expect(throws: DecodingError.self) {
            try EnvelopeFormat().value(Article.self, from: response(body))
        }
    }

    @Test(
        arguments: [
            (
                #"{"success":false,"code":"NOT_FOUND","message":"No","errors":[{"field":"id","message":"bad"}]}"#,
                ErrorEnvelope(code: "NOT_FOUND", message: "No", errors: [ErrorDetail(field: "id", message: "bad")])
            ),
            (
                #"{"code":404,"errors":["one","two"],"requestId":"r"}"#,
                ErrorEnvelope(
                    code: "404",
                    errors: [ErrorDetail(message: "one"), ErrorDetail(message: "two")],
                    requestId: "r"
                )
            ),
            (
                #"{"error":"invalid_grant","error_description":"expired"}"#,
                ErrorEnvelope(code: "invalid_grant", message: "expired")
            ),
            (
                #"{"type":"about:blank","title":"Nope","status":403,"detail":"Not yours"}"#,
                ErrorEnvelope(message: "Not yours")
            ),
            (#"{"code":"X","errors":"not a list","meta":7}"#, ErrorEnvelope(code: "X")),
        ]
    )
    func `common forms of errors are read`(body: String, envelope: ErrorEnvelope) {
        #expect(EnvelopeFormat().failure(from: response(body, status: 400)) == envelope)
        #expect(PlainJSONFormat().failure(from: response(body, status: 400)) == envelope)
    }

    @Test(arguments: ["", "<html><h1>502</h1>", "[]", "7", "{}", #"{"success":false}"#, #"{"data":{}}"#])
    func `a body without an error is no error envelope`(body: String) {
        #expect(EnvelopeFormat().failure(from: response(body, status: 502)) == nil)
    }

    @Test(
        arguments: [
            ("2024-02-29T12:00:00Z", 1_709_208_000.0), ("2024-02-29T12:00:00.250Z", 1_709_208_000.25),
            ("2024-02-29T12:00:00.25Z", 1_709_208_000.25), ("2024-02-29T14:00:00+02:00", 1_709_208_000),
            ("2024-02-29T12:00:00.123456Z", 1_709_208_000.123456),
        ]
    )
    func `dates are read with and without fractions`(text: String, seconds: Double) throws {
        let date = try decoder.decode([Date].self, from: Data(#"["\#(text)"]"#.utf8))[0]
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test func `dates are written in whole seconds`() throws {
        let data = try JSONCoding.standard.makeEncoder().encode([Date(timeIntervalSince1970: 1_709_208_000.25)])
        #expect(String(decoding: data, as: UTF8.self) == #"["2024-02-29T12:00:00Z"]"#)
    }

    @Test(arguments: ["false", "0", #""false""#, #""0""#, #""FALSE""#])
    func `a success that servers write in other ways is read as it is meant`(flag: String) {
        let envelope = response(#"{"success":\#(flag),"code":"QUOTA","data":{"id":7,"title":"x"}}"#)
        #expect(throws: ErrorEnvelope.self) { try EnvelopeFormat().value(Article.self, from: envelope) }
        #expect(throws: ErrorEnvelope.self) { try EnvelopeFormat().check(envelope) }
    }

    @Test func `a format decodes by coders of its own`() throws {
        let coding = JSONCoding(
            makeEncoder: { JSONEncoder() },
            makeDecoder: {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .secondsSince1970
                return decoder
            }
        )
        let date = Date(timeIntervalSince1970: 7)
        #expect(try PlainJSONFormat(coding: coding).value([Date].self, from: response("[7]")) == [date])
        #expect(try EnvelopeFormat(coding: coding).value(Date.self, from: response(#"{"data":7}"#)) == date)
    }
}

import DataAPI
import Foundation
import HandlerTesting
import NetworkCore
import NetworkTesting
import Testing

@Suite struct EnvelopeFormatTests {
    private struct Item: Codable, Hashable, Sendable {
        let id: Int
        let title: String
    }

    private func response(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(head: HTTPResponseHead(status: status), body: Data(text.utf8))
    }

    @Test(arguments: ["false", "0", #""false""#, #""0""#, #""FALSE""#])
    func `an envelope with success false, as servers write it, is an error`(flag: String) {
        let data = #""data":{"id":7,"title":"x"},"errors":[],"meta":{"requestId":"r-1"}"#
        let envelope = response(#"{"success":\#(flag),"code":"QUOTA","message":"Too many",\#(data)}"#)
        let expected = ServerError(code: "QUOTA", message: "Too many", requestId: "r-1")
        #expect(throws: expected) { try EnvelopeFormat().value(Item.self, from: envelope) }
        #expect(throws: expected) { try EnvelopeFormat().check(envelope) }
    }

    @Test(arguments: ["", "{}", "null", "<html>", #"{"success":true}"#])
    func `a response from which no value is read may have any body`(body: String) throws {
        try EnvelopeFormat().check(response(body))
    }

    @Test(arguments: ["", "{}", #"{"success":true}"#, #"{"success":true,"data":null}"#, "[]"])
    func `an envelope without data is no value`(body: String) {
        #expect(throws: DecodingError.self) {
            try EnvelopeFormat().value(Item.self, from: response(body))
        }
    }

    @Test(arguments: [
        #"{"success":true}"#, #"{"success":true,"data":null}"#, #"{"success":true,"data":{"id":7,"title":"x"}}"#,
    ])
    func `an optional type accepts an envelope without data`(body: String) throws {
        for plain in [false, true] {
            let item = try EnvelopeFormat(acceptsPlainValues: plain).value(Item?.self, from: response(body))
            #expect((item == nil) == !body.contains("7"))
        }
    }

    @Test(arguments: [200, 204, 205])
    func `an optional type accepts no body, and no other type does`(status: Int) async throws {
        for plain in [false, true] {
            let client = NetworkClient(
                baseURL: .api, transport: StubTransport((.any ~> .status(status)).repeated()),
                format: EnvelopeFormat(acceptsPlainValues: plain))
            #expect(try await client.send(Endpoint<Item?>.get("x")) == nil)
            let error = await #expect(throws: NetworkError.self) { try await client.send(Endpoint<Item>.get("x")) }
            #expect(error?.code == .decodingFailed)
        }
    }

    @Test func `the error of an envelope is read as that of plain JSON`() {
        let error = response(#"{"success":false,"code":"NOT_FOUND","message":"No"}"#, status: 404)
        #expect(EnvelopeFormat().failure(from: error) == ServerError(code: "NOT_FOUND", message: "No"))
        #expect(EnvelopeFormat().failure(from: response(#"{"success":false}"#, status: 502)) == nil)
    }

    @Test func `the envelope is decoded by the coders of its client`() async throws {
        let coding = JSONCoding(
            makeEncoder: { JSONEncoder() },
            makeDecoder: {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .secondsSince1970
                return decoder
            }
        )
        let client = NetworkClient(
            baseURL: .api, transport: StubTransport(.any ~> .text(#"{"data":7}"#)), format: .envelope, coding: coding)
        #expect(try await client.send(Endpoint<Date>.get("x")) == Date(timeIntervalSince1970: 7))
    }
}

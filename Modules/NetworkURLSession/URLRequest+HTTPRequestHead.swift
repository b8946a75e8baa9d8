import Foundation
public import NetworkCore

extension HTTPRequestHead {
    /// Takes method, URL and header fields of a `URLRequest`; not its body and its timeout. Fails without a URL.
    public init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        self.init(
            method: HTTPMethod(rawValue: request.httpMethod ?? "GET"), url: url,
            headers: HTTPHeaders(fields.map { ($0.key, $0.value) }))
    }
}

extension URLRequest {
    /// Creates a request without a body. `URLRequest` joins the values of a repeated field with a comma.
    public init(_ head: HTTPRequestHead) {
        self.init(url: head.url)
        httpMethod = head.method.rawValue
        for field in head.headers { addValue(field.value, forHTTPHeaderField: field.name) }
    }
}

extension HTTPResponseHead {
    /// Takes status, header fields and URL of an `HTTPURLResponse`, which has joined the values of repeated fields with
    /// a comma and forgotten the order of the fields. The values of `Set-Cookie` are separated again.
    public init(_ response: HTTPURLResponse) {
        let fields = response.allHeaderFields.flatMap { name, value -> [(String, String)] in
            guard let name = name as? String else { return [] }
            let text = "\(value)"
            guard name.equalsIgnoringASCIICase("Set-Cookie") else { return [(name, text)] }
            return text.splitBetweenCookies.map { (name, $0) }
        }
        self.init(status: response.statusCode, headers: HTTPHeaders(fields), url: response.url)
    }
}

extension String {
    /// The values of joined `Set-Cookie` fields. A comma separates two where the name of a cookie and `=` follow; the
    /// comma in a date is followed by a day.
    fileprivate var splitBetweenCookies: [String] {
        var cookies: [String] = []
        for piece in split(separator: ",", omittingEmptySubsequences: false) {
            let name = piece.prefix { $0 != "=" && $0 != ";" }
            let isCookie =
                name.endIndex < piece.endIndex && piece[name.endIndex] == "="
                && String(name).withoutSurroundingWhiteSpace.isFieldName
            if isCookie || cookies.isEmpty {
                cookies.append(String(piece).withoutSurroundingWhiteSpace)
            } else {
                cookies[cookies.count - 1] += ",\(piece)"
            }
        }
        return cookies
    }
}

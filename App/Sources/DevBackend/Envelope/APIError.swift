import HTTPTypes

/// An error that is sent in the envelope. Any other error becomes a 500 without details.
struct APIError: Error {
    struct FieldError: Encodable, Sendable, Hashable {
        let field: String?
        let message: String
    }

    let status: HTTPResponse.Status
    let code: String
    let message: String
    var errors: [FieldError]?
    var headers = HTTPFields()
    /// The `error` of an OAuth 2.0 response, where it does not follow from the status.
    var oauth2Code: String?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, errors: [FieldError]? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors
    }

    func with(_ field: HTTPField.Name, _ value: String) -> APIError {
        var error = self
        error.headers[field] = value
        return error
    }
}

extension APIError {
    static func validation(_ errors: [FieldError]) -> APIError {
        APIError(.badRequest, "VALIDATION_FAILED", "The request has invalid fields.", errors: errors)
    }

    static func validation(_ field: String, _ message: String) -> APIError {
        validation([FieldError(field: field, message: message)])
    }

    static let malformedJSON = APIError(.badRequest, "MALFORMED_JSON", "The body is not valid JSON.")
    static let notFound = APIError(.notFound, "NOT_FOUND", "There is no such resource.")
    static let internalError = APIError(.internalServerError, "INTERNAL", "The server failed.")

    static func bodyTooLarge(_ limit: Int) -> APIError {
        APIError(.contentTooLarge, "BODY_TOO_LARGE", "The body is larger than \(limit) bytes.")
    }

    static func imageTooLarge(_ limit: Int) -> APIError {
        APIError(.contentTooLarge, "IMAGE_TOO_LARGE", "The image is larger than \(limit) bytes.")
    }

    static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> APIError {
        APIError(.methodNotAllowed, "METHOD_NOT_ALLOWED", "This path does not support this method.")
            .with(.allow, allowed.map(\.rawValue).joined(separator: ", "))
    }
}

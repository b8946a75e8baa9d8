import Foundation
import HTTPTypes
import Hummingbird

/// The validated upload that registers a guest.
struct GuestRegistration: Sendable {
    let name: String
    let image: Data
    let header: JPEGHeader

    /// Collects, parses and validates the upload.
    ///
    /// - Throws: `UNSUPPORTED_MEDIA_TYPE`, `MALFORMED_MULTIPART`, `VALIDATION_FAILED`, `IMAGE_TOO_LARGE` or
    ///   `UNSUPPORTED_IMAGE`.
    init(_ request: Request, in exchange: Exchange, limits: DevBackend.Limits) async throws {
        let parts = try await Self.parts(of: request, in: exchange, limits: limits)
        let names = parts.filter { $0.name == "name" }
        let images = parts.filter { $0.name == "image" }

        var errors: [APIError.FieldError] = []
        let name = names.first.flatMap { String(validating: $0.content, as: UTF8.self) }?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        if names.count != 1 {
            errors.append(.init(field: "name", message: "Must be given once."))
        } else if !(1...limits.nameCharacters).contains(name?.count ?? 0) {
            errors.append(.init(field: "name", message: "Must have 1 to \(limits.nameCharacters) characters."))
        }
        if images.count != 1 || images.first?.content.isEmpty == true {
            errors.append(.init(field: "image", message: "Must be given once."))
        }
        guard errors.isEmpty, let name, let image = images.first else { throw APIError.validation(errors) }

        guard image.content.count <= limits.imageBytes else { throw APIError.imageTooLarge(limits.imageBytes) }
        guard let header = JPEGHeader(image.content) else {
            throw APIError(.unsupportedMediaType, "UNSUPPORTED_IMAGE", "The image is not a JPEG.")
        }
        self.name = name
        self.image = image.content
        self.header = header
    }

    private static func parts(
        of request: Request, in exchange: Exchange, limits: DevBackend.Limits
    ) async throws -> [MultipartPart] {
        guard
            let type = request.headers[.contentType].flatMap({ ParameterizedValue($0) }),
            type.value.lowercased() == "multipart/form-data"
        else {
            throw APIError(
                .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data.")
        }
        do {
            let parser = try MultipartParser(
                boundary: type.parameters["boundary"] ?? "", maximumParts: limits.multipartParts,
                maximumHeaderBytes: limits.multipartHeaderBytes)
            let body = try await request.bodyData(
                upTo: limits.imageBytes + limits.multipartOverheadBytes, in: exchange,
                orThrow: .imageTooLarge(limits.imageBytes))
            return try parser.parse(body)
        } catch let error as MultipartParser.Failure {
            throw APIError(.badRequest, "MALFORMED_MULTIPART", "The multipart body is malformed: \(error).")
        }
    }
}

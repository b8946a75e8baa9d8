import Foundation
import HTTPTypes
import Hummingbird
import MultipartForms

/// The validated upload that registers a guest.
struct GuestRegistration: Sendable {
    let name: String
    let image: Data

    /// Reads and validates the upload.
    ///
    /// - Throws: `UNSUPPORTED_MEDIA_TYPE`, `MALFORMED_MULTIPART`, `VALIDATION_FAILED`, `IMAGE_TOO_LARGE`,
    ///   `UNSUPPORTED_IMAGE`, and what reading a body throws.
    init(_ request: Request, limits: DevBackend.Limits) async throws {
        let parts = try await Self.parts(of: request, limits)
        let names = parts.filter { $0.header.name == "name" }
        let images = parts.filter { $0.header.name == "image" }
        let name = (names.first?.content).flatMap { String(validating: $0, as: UTF8.self) }?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let image = images.first?.content ?? Data()
        guard image.count <= limits.imageBytes else { throw APIError.imageTooLarge(limits.imageBytes) }
        var errors: [APIError.FieldError] = []
        if names.count != 1 {
            errors.append(.init(field: "name", message: "Must be given once."))
        } else if !(1...limits.nameCharacters).contains(name?.unicodeScalars.count ?? 0) {
            errors.append(.init(field: "name", message: "Must have 1 to \(limits.nameCharacters) characters."))
        } else if name?.contains("\0") == true {
            errors.append(.init(field: "name", message: "Must not have a null character."))
        }
        if images.count != 1 || image.isEmpty {
            errors.append(.init(field: "image", message: "Must be given once."))
        }
        guard errors.isEmpty, let name else { throw APIError.validation(errors) }
        // The marker of the start, that of a segment, and more than both.
        guard image.starts(with: [0xFF, 0xD8, 0xFF]), image.count > 4 else {
            throw APIError(.unsupportedMediaType, "UNSUPPORTED_IMAGE", "The image is not a JPEG.")
        }
        self.name = name
        self.image = image
    }

    private static func parts(of request: Request, _ limits: DevBackend.Limits) async throws -> [MultipartPart] {
        guard
            let type = request.headers[.contentType].flatMap({ ParameterizedValue($0) }),
            type.value.lowercased() == "multipart/form-data"
        else {
            throw APIError(
                .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data.")
        }
        let body = try await request.bodyData(
            upTo: limits.imageBytes + limits.bodyBytes, orThrow: .imageTooLarge(limits.imageBytes))
        do {
            return try MultipartParser.parts(
                of: body, boundary: type.parameters["boundary"] ?? "", maximumParts: 16, maximumHeaderBytes: 8 * 1024)
        } catch {
            throw APIError(.badRequest, "MALFORMED_MULTIPART", "The multipart body is malformed: \(error).")
        }
    }
}

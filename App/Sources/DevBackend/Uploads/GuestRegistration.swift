import Foundation
import HTTPTypes
import Hummingbird
import MultipartForms

/// The validated upload that registers a guest.
struct GuestRegistration: Sendable {
    let name: String
    let image: Data
    let header: JPEGHeader

    /// Reads the upload, the image into a file, and validates it.
    ///
    /// - Throws: `UNSUPPORTED_MEDIA_TYPE`, `MALFORMED_MULTIPART`, `VALIDATION_FAILED`, `IMAGE_TOO_LARGE`,
    ///   `UNSUPPORTED_IMAGE`, `UPLOAD_SPACE_EXHAUSTED`, and what reading a body throws.
    init(_ request: Request, in exchange: Exchange, uploads: UploadFolder, limits: DevBackend.Limits) async throws {
        var form = Form(uploads: uploads, limits: limits)
        do {
            try await form.read(request, in: exchange)
        } catch let error as MultipartParser.Failure {
            throw APIError(.badRequest, "MALFORMED_MULTIPART", "The multipart body is malformed: \(error).")
        }
        var errors: [APIError.FieldError] = []
        let name = form.name.flatMap { String(validating: $0, as: UTF8.self) }?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        if form.names != 1 {
            errors.append(.init(field: "name", message: "Must be given once."))
        } else if !(1...limits.nameCharacters).contains(name?.unicodeScalars.count ?? 0) {
            errors.append(.init(field: "name", message: "Must have 1 to \(limits.nameCharacters) characters."))
        } else if name?.contains("\0") == true {
            errors.append(.init(field: "name", message: "Must not have a null character."))
        }
        let image = try form.image?.mapped() ?? Data()
        if form.images != 1 || image.isEmpty {
            errors.append(.init(field: "image", message: "Must be given once."))
        }
        guard errors.isEmpty, let name else { throw APIError.validation(errors) }
        guard let header = JPEGHeader(image) else {
            throw APIError(.unsupportedMediaType, "UNSUPPORTED_IMAGE", "The image is not a JPEG.")
        }
        self.name = name
        self.image = image
        self.header = header
    }
}

/// The parts of the upload, as they arrive.
private struct Form {
    private enum Part { case name, image, other }

    let uploads: UploadFolder
    let limits: DevBackend.Limits
    private(set) var names = 0
    private(set) var images = 0
    /// The first name; nil when it is longer than any valid one.
    private(set) var name: Data?
    /// The first image.
    private(set) var image: UploadFile?
    private var part = Part.other

    init(uploads: UploadFolder, limits: DevBackend.Limits) {
        self.uploads = uploads
        self.limits = limits
    }

    mutating func read(_ request: Request, in exchange: Exchange) async throws {
        guard
            let type = request.headers[.contentType].flatMap({ ParameterizedValue($0) }),
            type.value.lowercased() == "multipart/form-data"
        else {
            throw APIError(
                .unsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data.")
        }
        var parser = try MultipartParser(
            boundary: type.parameters["boundary"] ?? "", maximumParts: limits.multipartParts,
            maximumHeaderBytes: limits.multipartHeaderBytes)
        let limit = limits.imageBytes + limits.multipartOverheadBytes
        try await request.readBody(upTo: limit, orThrow: .imageTooLarge(limits.imageBytes)) { chunk in
            for event in try parser.read(chunk.readableBytesView) {
                switch event {
                case .part(let header): try await start(header.name)
                case .content(let data): try await add(data, in: exchange)
                }
            }
        }
        try parser.finish()
    }

    private mutating func start(_ name: String) async throws {
        part = .other
        if name == "name" {
            names += 1
            guard names == 1 else { return }
            (self.name, part) = (Data(), .name)
        } else if name == "image" {
            images += 1
            guard images == 1 else { return }
            (image, part) = (try await uploads.makeFile(), .image)
        }
    }

    private mutating func add(_ data: Data, in exchange: Exchange) async throws {
        switch part {
        case .name:
            guard let count = name?.count, count + data.count <= limits.multipartOverheadBytes else {
                name = nil
                return
            }
            guard exchange.body.grow(to: count + data.count) else { throw APIError.bodyMemoryExhausted }
            name?.append(data)
        case .image:
            guard let image else { return }
            guard image.count + data.count <= limits.imageBytes else {
                throw APIError.imageTooLarge(limits.imageBytes)
            }
            try await image.append(data)
        case .other: return
        }
    }
}

public import Foundation
public import NetworkCore

extension NetworkService {
    /// Downloads a response to a file. It is not decoded. Progress starts again when the file does.
    ///
    /// The target is replaced when the file is whole, and unchanged otherwise. One that is no regular file, such as a
    /// folder, a symbolic link, a device or a pipe, is refused before a request is sent, and again before it is
    /// replaced. A lost connection is resumed with `Range` and `If-Range`, if the method is `GET` and the server has
    /// sent a strong validator; no other method is sent again. So is a response that arrives faster than it is written,
    /// over a transport that cannot make the server wait; its rest is requested in smaller parts. Memory is constant.
    /// The file's mode is 0600.
    ///
    /// - Throws: `NetworkError`, with code `fileFailed` when the file cannot be written; `CancellationError` at once
    ///   when the task is cancelled.
    @discardableResult
    public func download<Response>(
        _ endpoint: Endpoint<Response>, to target: URL, options: DownloadOptions = DownloadOptions(),
        progress: ProgressHandler? = nil
    ) async throws -> DownloadedFile {
        try await makeDownload(endpoint, options, progress).run(to: target)
    }

    /// Downloads what is at a path to a file: ``download(_:to:options:progress:)`` of a `GET`.
    ///
    /// - Throws: As that method.
    @discardableResult
    public func download(
        _ path: EndpointPath, query: QueryItems = [:], to target: URL, options: DownloadOptions = DownloadOptions(),
        progress: ProgressHandler? = nil
    ) async throws -> DownloadedFile {
        try await download(Endpoint<Data>.get(path, query: query), to: target, options: options, progress: progress)
    }

    /// Downloads what is at a path into a folder: ``download(_:into:options:progress:)`` of a `GET`.
    ///
    /// - Throws: As that method.
    public func download(
        _ path: EndpointPath, query: QueryItems = [:], into folder: URL, options: DownloadOptions = DownloadOptions(),
        progress: ProgressHandler? = nil
    ) async throws -> DownloadedFile {
        try await download(Endpoint<Data>.get(path, query: query), into: folder, options: options, progress: progress)
    }

    /// Downloads a response into a folder, under the name that the server proposes in `Content-Disposition`, or else
    /// the last component of the URL.
    ///
    /// A file of that name is not replaced: the new one is `report 2.pdf`. No name leads out of the folder, which
    /// must exist. A partial file is not kept.
    ///
    /// - Throws: As ``download(_:to:options:progress:)``.
    public func download<Response>(
        _ endpoint: Endpoint<Response>, into folder: URL, options: DownloadOptions = DownloadOptions(),
        progress: ProgressHandler? = nil
    ) async throws -> DownloadedFile {
        try await makeDownload(endpoint, options, progress).run(into: folder, named: "download")
    }

    /// Downloads a response to a file, with its progress as a sequence. It starts when it is iterated.
    public func downloading<Response>(
        _ endpoint: Endpoint<Response>, to target: URL, options: DownloadOptions = DownloadOptions()
    ) -> Transfer<DownloadedFile> {
        Transfer { try await download(endpoint, to: target, options: options, progress: $0) }
    }

    /// Sends a request, with the progress of its body as a sequence. The upload has a minimum rate, by default
    /// `MinimumRate.standard`, in place of a total deadline. The progress handler of the options is called too.
    ///
    /// - Returns: The transfer, whose value is that of the response. It starts when it is iterated.
    public func uploading<Response>(
        _ endpoint: Endpoint<Response>, options: RequestOptions = RequestOptions()
    ) -> Transfer<Response> {
        Transfer { progress in
            var options = options
            options.minimumRate = options.minimumRate ?? .standard
            let other = options.progress
            options.progress = {
                other?($0)
                progress($0)
            }
            return try await send(endpoint, options: options)
        }
    }

    private func makeDownload<Response>(
        _ endpoint: Endpoint<Response>, _ options: DownloadOptions, _ progress: ProgressHandler?
    ) -> Download {
        let continuity = options.request.continuity ?? SessionContinuity()
        return Download(
            isResumable: endpoint.method == .get, options: options, continuity: continuity, progress: progress
        ) { range in
            var endpoint = endpoint
            endpoint.settings.headers["Accept"] = endpoint.settings.headers["Accept"] ?? "*/*"
            // The offsets of a compressed body are not those of the file.
            endpoint.settings.headers["Accept-Encoding"] = "identity"
            endpoint.settings.acceptedStatuses = .any(of: [.status(200), .status(203), .status(206)])
            if let range {
                endpoint.settings.headers["Range"] = range.field
                endpoint.settings.headers["If-Range"] = range.validator
                endpoint.settings.acceptedStatuses = .any(of: [.status(200), .status(203), .status(206), .status(416)])
            }
            let sent = SentHead()
            var request = options.request
            request.progress = nil
            request.continuity = continuity
            request.interceptors.append(sent)
            let response = try await stream(endpoint, options: request)
            return (response, request: sent.head?.identity)
        }
    }
}

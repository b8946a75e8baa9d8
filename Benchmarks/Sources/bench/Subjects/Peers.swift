import Foundation

#if PEERS
import Alamofire
import Get
#endif

/// Other client libraries over URLSession, where the manifest can name them (`BENCH_PEERS=1`).
func peers(_ url: URL) -> [Way] {
    #if PEERS
    let get = APIClient(baseURL: url.deletingLastPathComponent())
    let path = "/" + url.lastPathComponent
    return [
        Way(name: "Alamofire") { try await AF.request(url).serializingDecodable(Article.self).value },
        Way(name: "Get") { try await get.send(Request<Article>(path: path)).value },
    ]
    #else
    []
    #endif
}

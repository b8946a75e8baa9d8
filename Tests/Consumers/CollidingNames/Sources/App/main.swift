import DataAPI
import Foundation
import LatchkeyDataAPI
import LatchkeyStorage
import NetworkCore
import NetworkURLSession
import Storage
import TokenRefresh

let product = Product(shelf: Shelf(name: "first").name)
let api = NetworkClient(baseURL: URL(fileURLWithPath: "/"), transport: URLSessionTransport())
let session = TokenRefreshCoordinator(
    store: FileTokenStore(application: product.shelf), handler: RESTTokenRefreshHandler(network: api))

import Foundation
import Storage
import TestSupport

/// A store whose folder does not exist yet, in a folder that is removed with the test.
struct TemporaryStore {
    let temporary = TemporaryFolder()
    let folder: URL
    let store: FileTokenStore

    init(account: String = "default") {
        folder = temporary.fresh()
        store = FileTokenStore(folder: folder, account: account)
    }
}

/// Tests of a store in a temporary folder.
protocol TemporaryStoreTests { var place: TemporaryStore { get } }

extension TemporaryStoreTests {
    var temporary: TemporaryFolder { place.temporary }
    var folder: URL { place.folder }
    var store: FileTokenStore { place.store }
}

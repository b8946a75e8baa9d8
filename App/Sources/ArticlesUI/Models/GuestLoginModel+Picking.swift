#if canImport(PhotosUI)
import PhotosUI
import SwiftUI
import struct Foundation.Data

extension GuestLoginModel {
    /// Reads and fits a photo of the photo library.
    func pick(_ item: PhotosPickerItem) async {
        await pick { try await item.loadTransferable(type: Data.self) }
    }
}
#endif

import Foundation
import Imaging
import Testing

@Suite struct ImageHeaderTests {
    private let jpeg = FlatJPEG(components: [200]).data

    private func code(of data: Data) -> ImagingError.Code? { imagingError { try ImageHeader(parsing: data) }?.code }

    @Test func `the size of a JPEG is read from its frame header`() throws {
        #expect(try ImageHeader(parsing: jpeg) == ImageHeader(format: .jpeg, size: PixelSize(width: 8, height: 8)))
    }

    @Test func `a slice of a larger buffer is read as a file`() throws {
        let buffer = Data([1, 2, 3]) + jpeg + Data([4])
        #expect(try ImageHeader(parsing: buffer[3..<3 + jpeg.count]).size == PixelSize(width: 8, height: 8))
        #expect(try EXIFOrientation.left.tagging(buffer[3..<3 + jpeg.count]) == EXIFOrientation.left.tagging(jpeg))
    }

    @Test func `fill bytes and stray bytes between segments are skipped`() throws {
        let odd = jpeg.prefix(2) + Data([0xFF, 0xFF, 0xFF, 0xFE, 0, 3, 7, 0, 0, 9]) + jpeg.dropFirst(2)
        #expect(try ImageHeader(parsing: odd).size == PixelSize(width: 8, height: 8))
    }

    /// The last one is a film.
    @Test(arguments: ["", "hello", "<html>", "\u{7F}ELF", "\0\0\0\u{18}ftypisom....mp41"])
    func `what is no picture is told from another picture format`(text: String) {
        #expect(code(of: Data(text.utf8)) == .notAnImage)
    }

    @Test(arguments: [
        ("GIF89a", "GIF"), ("BM......", "BMP"), ("II*\0....", "TIFF"), ("0000ftypavif", "AVIF"),
        ("0000ftypheic", "HEIC"), ("\0\0\0\u{18}ftypheic....mif1", "HEIC"), ("\0\0\0\u{18}ftypmif1....heic", "HEIC"),
        ("\0\0\0\u{18}ftypmif1....avif", "AVIF"), ("\0\0\0\u{14}ftypmsf1....", "HEIF"),
        ("RIFF1234WEBPVP8 ", "WebP"), ("RIFF\u{10}\0\0\0WEBPVP8 ", "WebP"),
    ])
    func `another picture format is named`(text: String, name: String) {
        let error = imagingError { try ImageHeader(parsing: Data(text.utf8)) }
        #expect(error?.code == .unsupportedFormat)
        #expect(error?.message.contains("\(name) cannot be read") == true)
    }

    @Test func `every truncation of a JPEG is refused`() {
        for count in 0..<jpeg.count {
            let expected: ImagingError.Code = count < 3 ? .notAnImage : .decodingFailed
            #expect(code(of: jpeg.prefix(count)) == expected, "\(count) bytes")
        }
    }

    @Test func `bytes after the picture are ignored`() throws {
        _ = try ImageHeader(parsing: jpeg + Data(repeating: 0xFF, count: 100))
    }

    @Test func `a JPEG with a height of zero, and a PNG without a valid header, are damaged`() {
        #expect(code(of: FlatJPEG(components: [200], size: (8, 0)).data) == .decodingFailed)
        for (width, height) in [(0, 5), (5, 0), (0x8000_0000, 1), (0xFFFF_FFFF, 0xFFFF_FFFF)] {
            let png = PlainPNG(width: width, height: height, kind: .grayscale, rows: [[0]])
            #expect(code(of: png.data) == .decodingFailed, "\(width)×\(height)")
        }
        var headless = PlainPNG(width: 1, height: 1, kind: .grayscale, rows: [[0]]).data
        headless[12] = 0x4A
        #expect(code(of: headless) == .decodingFailed, "the first chunk is not a header")
    }

    @Test func `the size of a PNG is read from its header alone`() throws {
        let png = PlainPNG(width: 30_000, height: 20_000, kind: .rgb, rows: [[]])
        #expect(try ImageHeader(parsing: png.data).size.pixelCount == 600_000_000)
    }
}

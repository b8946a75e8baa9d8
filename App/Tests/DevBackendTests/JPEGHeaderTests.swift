import Foundation
import Testing

@testable import DevBackend

@Suite(.hangLimit) struct JPEGHeaderTests {
    @Test(arguments: [(1, 1), (640, 480), (65_535, 65_535)])
    func `the dimensions are those of the frame`(width: UInt16, height: UInt16) throws {
        let header = try JPEGHeader(jpeg(width: width, height: height)).required("a header")
        #expect(header.width == Int(width))
        #expect(header.height == Int(height))
    }

    @Test(arguments: [0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC9, 0xCF])
    func `every kind of frame is recognized`(marker: UInt8) throws {
        let frame = Data([0xFF, 0xD8, 0xFF, marker, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0])
        let header = try JPEGHeader(frame).required("a header")
        #expect(header.width == 3)
        #expect(header.height == 2)
    }

    @Test func `tables, fill bytes and restart markers are skipped`() throws {
        let bytes =
            Data([0xFF, 0xD8, 0xFF, 0xC4, 0, 4, 0xFF, 0xC0, 0xFF, 0xD0, 0xFF, 0xFF, 0xFF])
            + [0xC0, 0, 11, 8, 0, 2, 0, 3, 1, 1, 0x11, 0]
        #expect(try JPEGHeader(bytes).required("a header").width == 3)
    }

    @Test(arguments: [
        [], [0xFF], [0xFF, 0xD8], [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF, 0xD9],
        [0xFF, 0xD8, 0x00, 0xC0, 0, 11, 8, 0, 2, 0, 3],
        [0xFF, 0xD8, 0xFF, 0x00, 0, 11, 8, 0, 2, 0, 3],
        [0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF],
        [0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 0xFF, 0xC0],
        [0xFF, 0xD8, 0xFF, 0xC0, 0, 7, 8, 0, 2, 0, 3],
        [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 0, 0, 3],
        [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 2, 0, 0],
        [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8, 0, 2, 0],
        [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 0xFF, 0xC0, 0, 11, 8, 0, 2, 0, 3],
    ])
    func `bytes without a valid frame have no header`(bytes: [UInt8]) {
        #expect(JPEGHeader(bytes) == nil)
    }

    @Test func `every truncated header is rejected without a trap`() {
        let whole = jpeg()
        for length in 0..<(whole.count - 6) { #expect(JPEGHeader(whole.prefix(length)) == nil) }
    }
}

#if TurboJPEG && os(Linux)
import Foundation
import Imaging
import Testing

/// A photo keeps its colours: by its profile, or converted to sRGB.
@Suite struct ColorTests {
    private let codec = TurboJPEGCodec()

    /// An RGB profile of a display, with the given length. Its tables are absent: it is only carried.
    private func profile(_ count: Int, space: String = "RGB ") -> Data {
        var profile = Data(count: count)
        func put(_ bytes: some Sequence<UInt8>, _ offset: Int) {
            for (index, byte) in bytes.enumerated() { profile[offset + index] = byte }
        }
        put([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }, 0)
        put([4, 0, 0, 0], 8)
        put(Data("mntr\(space)XYZ ".utf8), 12)
        put([7, 0xE6, 0, 1, 0, 1], 24)
        put(Data("acsp".utf8), 36)
        // The illuminant of the connection space, D50.
        put([0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D], 68)
        for offset in stride(from: 200, to: count, by: 7) { profile[offset] = UInt8(truncatingIfNeeded: offset) }
        return profile
    }

    private func fittedProfile(of file: Data) throws -> Data? {
        let photo = try PhotoFitter(codec) { $0.maximumSize = PixelSize(width: 20, height: 20) }.fit(file)
        return try codec.decode(photo.jpeg, covering: photo.size).colorProfile
    }

    private func png(_ extras: [(String, [UInt8])]) -> PlainPNG {
        PlainPNG(width: 1, height: 1, kind: .rgb, rows: [[200, 100, 50]], extras: extras)
    }

    private func embedded(_ profile: Data) -> (String, [UInt8]) {
        ("iCCP", Array("profile\0\0".utf8) + png([]).compressed(Array(profile)))
    }

    @Test(arguments: [548, 65_519, 65_520, 200_000])
    func `a profile of a JPEG is kept, in as many segments as it needs`(count: Int) throws {
        var picture = Bitmap.quadrants(PixelSize(width: 50, height: 50))
        picture.colorProfile = profile(count)
        #expect(try fittedProfile(of: codec.encodeJPEG(picture, quality: 0.9)) == picture.colorProfile)
    }

    @Test func `a profile for gray, or without one of its segments, is ignored`() throws {
        var picture = Bitmap.quadrants(PixelSize(width: 50, height: 50))
        picture.colorProfile = profile(200_000)
        var file = try codec.encodeJPEG(picture, quality: 0.9)
        let second = try #require(file.range(of: Data("ICC_PROFILE\0\u{2}".utf8)))
        file[second.lowerBound] = 0x58
        #expect(try fittedProfile(of: file) == nil)
        picture.colorProfile = profile(548, space: "GRAY")
        #expect(try fittedProfile(of: codec.encodeJPEG(picture, quality: 0.9)) == nil)
    }

    @Test func `a PNG keeps its profile and its samples`() throws {
        // The gamma of the file is for readers without profiles: it must not change the samples.
        let gamma: (String, [UInt8]) = ("gAMA", [0, 0, 0xD9, 0x03])
        let wide = profile(548)
        for extras in [[embedded(wide)], [gamma, embedded(wide)]] {
            let bitmap = try codec.decode(png(extras))
            #expect(bitmap.colorProfile == wide)
            #expect(bitmap[0, 0] == [200, 100, 50])
            #expect(try fittedProfile(of: png(extras).data) == wide)
        }
    }

    @Test func `a damaged profile of a PNG is ignored`() throws {
        let damaged: (String, [UInt8]) = ("iCCP", Array("profile\0\0".utf8) + [1, 2, 3])
        for extra in [damaged, embedded(profile(548, space: "CMYK")), embedded(profile(548).prefix(300))] {
            let bitmap = try codec.decode(png([extra]))
            #expect(bitmap.colorProfile == nil)
            #expect(bitmap[0, 0] == [200, 100, 50])
        }
    }

    @Test func `a PNG with a gamma alone is converted to sRGB`() throws {
        let linear = try codec.decode(png([("gAMA", [0, 1, 0x86, 0xA0])]))
        // (200/255)^(1/2.2), and so on.
        #expect(isNear(linear[0, 0], [228, 167, 122], within: 2))
        #expect(linear.colorProfile == nil)
        let marked = try codec.decode(png([("gAMA", [0, 1, 0x86, 0xA0]), ("sRGB", [0])]))
        #expect(marked[0, 0] == [200, 100, 50])
    }

    @Test func `a photo has no metadata of its PNG`() throws {
        let text: (String, [UInt8]) = ("tEXt", Array("Location\0SECRET".utf8))
        let xmp: (String, [UInt8]) = ("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0SECRET".utf8))
        #expect(try PhotoFitter(codec: codec).fit(png([text, xmp]).data).jpeg.range(of: Data("SECRET".utf8)) == nil)
    }
}
#endif

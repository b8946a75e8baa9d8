import Testing

@testable import NetworkTransfers

@Suite("Content-Disposition")
struct ContentDispositionTests {
    @Test(
        arguments: [
            (#"attachment; filename="report.pdf""#, "report.pdf"), ("attachment; filename=report.pdf", "report.pdf"),
            ("attachment;filename=my report.pdf", "my report.pdf"), (#"ATTACHMENT; FileName="a\"b.txt""#, "a\"b.txt"),
            (#"attachment; filename="a.txt"; filename*=UTF-8''na%C3%AFve.txt"#, "naïve.txt"),
            (#"attachment; filename*=utf-8'en'%e2%82%ac.txt; filename="a.txt""#, "€.txt"),
            (#"attachment; filename*=ISO-8859-1''%E9.txt"#, "é.txt"),
            (#"attachment; filename*=UTF-8''%FF.txt; filename="a.txt""#, "a.txt"),
            (#"attachment; filename*=UTF-8''%4; filename="a.txt""#, "a.txt"),
            (#"attachment; filename*=KOI8-R''x; filename="a.txt""#, "a.txt"),
            (#"attachment; filename="a.txt"; filename="b.txt""#, "a.txt"),
            (#"attachment; filename="a;b,c.txt""#, "a;b,c.txt"),
            ("attachment; filename=a,b.pdf; size=7", "a,b.pdf"), ("attachment; filename*=UTF-8''a,b.pdf", "a,b.pdf"),
            ("attachment; filename*=UTF-8''it's (1).pdf", "it's (1).pdf"),
            (#"attachment; filename="=?UTF-8?B?w7wucGRm?=""#, "ü.pdf"),
            ("attachment; filename==?utf-8?q?=C3=BC_1.pdf?=", "ü 1.pdf"),
            (#"attachment; filename="=?ISO-8859-1?Q?caf=E9?=  =?UTF-8?B?LnBkZg==?=""#, "café.pdf"),
            (#"attachment; filename="a =?UTF-8?Q?=C3=BC?= b.pdf""#, "a ü b.pdf"),
            (#"attachment; filename="=?UTF-8?Q?=FF?=.pdf""#, "=?UTF-8?Q?=FF?=.pdf"),
            (#"attachment; filename="=?KOI8-R?B?eA==?=""#, "=?KOI8-R?B?eA==?="),
            (#"attachment; filename="=?UTF-8?Q?..=2F=2Fa?=""#, "a"), (#"attachment; filename="a=?b?=""#, "a=?b?="),
            ("attachment", nil), (#"attachment; filename="""#, nil), (#"attachment; filename="open"#, nil),
        ])
    func `the file name is read`(field: String, name: String?) throws {
        #expect(try #require(ContentDisposition(field)).fileName == name)
    }

    @Test(
        arguments: [
            ("../../etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"), ("/etc/passwd", "passwd"), ("..", nil),
            (".", nil), ("../", nil), ("a/..", nil), (".bashrc", "bashrc"), ("...hidden", "hidden"), ("a\u{0}b", "ab"),
            ("a\r\nb", "ab"), ("C:evil", "C_evil"), ("  a. ", "a"), ("gpj.\u{202E}exe", "gpj.exe"),
            ("a\u{2028}b", "ab"), (".\u{301}a", "\u{301}a"),
        ])
    func `a file name is one visible component of a path`(name: String, safe: String?) {
        #expect(ContentDisposition.safeFileName(name) == safe)
    }

    @Test func `a long file name keeps its extension and whole characters`() throws {
        let name = try #require(ContentDisposition.safeFileName(String(repeating: "ü", count: 400) + ".pdf"))
        #expect(name.utf8.count <= 255 && name.hasSuffix("ü.pdf") && !name.contains("\u{FFFD}"))
    }
}

/// The files of the pages, in the program: no bundle has to be found.
enum Assets {
    static let icon = #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f5b62"/>\
        <path d="M9 10h14M9 16h14M9 22h9" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>
        """#
}

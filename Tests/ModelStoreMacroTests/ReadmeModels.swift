import ModelStoreMacro

/// The models that the README shows.
enum Readme {
  @Model
  struct Artist {
    var id: Int64
    @Validate(.length(1...120)) var name: String
  }

  @Model
  struct Track {
    var id: Int64
    @Validate(.length(1...200)) var title: String
    @Validate(.range(1...)) var milliseconds: Int
    @Reference(Artist.self, onDelete: .cascade) var artistID: Int64
    var artistName: String = ""
  }
}

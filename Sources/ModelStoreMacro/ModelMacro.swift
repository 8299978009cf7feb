@_exported public import ModelStore

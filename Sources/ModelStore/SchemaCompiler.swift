// Programs only write `import ModelStore`: the types that declare schemas come with it.
@_exported public import SchemaCompiler

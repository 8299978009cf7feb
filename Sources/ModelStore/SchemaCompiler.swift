// Programs write `import ModelStore` alone: what declares and compiles schemas comes with it.
@_exported public import SchemaCompiler

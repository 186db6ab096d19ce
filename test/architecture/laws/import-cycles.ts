import type { SourceFile } from '../../support/source-tree.ts'

/** Rings of files that import each other's values. Types may form rings: they are gone when the code runs. */
export function importCycles(tree: readonly SourceFile[]): string[] {
  const edges = new Map(tree.map((file) => [file.path, valueTargets(file)]))
  const done = new Set<string>()
  const rings = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) return void rings.add([...trail.slice(start), path].join(' -> '))
    if (done.has(path)) return
    for (const target of edges.get(path) ?? []) walk(target, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  return [...rings]
}

function valueTargets(file: SourceFile): string[] {
  return file.imports.filter((item) => !item.typeOnly).flatMap((item) => item.targets)
}

/** What inline-source.ts makes of an import that ends in `?source`. */
declare module '*?source' {
  export const source: string
}

/** What inline-source.ts makes of an import that ends in `?page`. */
declare module '*?page' {
  export const source: string
}

/** What inline-source.ts makes of an import that ends in `?source`. */
declare module '*?source' {
  export const source: string
}

/** What we use of a better-sqlite3 statement. */
export interface SqliteStatement {
  run(...values: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  safeIntegers(toggle?: boolean): unknown
}

/** What we use of a better-sqlite3 handle, in our own words: users need no type package to compile against us. */
export interface SqliteDatabase {
  readonly name: string
  readonly open: boolean
  readonly inTransaction: boolean
  readonly memory: boolean
  readonly readonly: boolean
  prepare(source: string): SqliteStatement
  exec(source: string): unknown
  pragma(source: string, options?: { simple?: boolean | undefined }): unknown
  close(): unknown
}

export interface SqliteOpening {
  readonly timeout: number
  readonly readonly?: boolean
}

export type SqliteDriver = new (path: string, options: SqliteOpening) => SqliteDatabase

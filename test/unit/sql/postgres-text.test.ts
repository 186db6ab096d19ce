import { describe, expect, it } from 'vitest'
import { ConfigurationError, StorageError } from '../../../src/errors/classes.ts'
import { literal, quotedSchema } from '../../../src/sql/postgres-text.ts'

describe('a schema', () => {
  it('is quoted', () => {
    expect(quotedSchema('holdfast')).toBe('"holdfast"')
    expect(quotedSchema('a"; DROP TABLE b; --')).toBe('"a""; DROP TABLE b; --"')
  })

  it.each(['', 'a\0b', 'pg_catalog', 'x'.repeat(64), 'ä'.repeat(32), 5, null, undefined])('is refused: %j', (name) => {
    expect(() => quotedSchema(name)).toThrow(ConfigurationError)
  })
})

describe('a text', () => {
  it('is quoted', () => {
    expect(literal("it's")).toBe("'it''s'")
    expect(literal("\\'; DROP TABLE a; --")).toBe("E'\\\\''; DROP TABLE a; --'")
  })

  it('has no NUL', () => {
    expect(() => literal('a\0b')).toThrow(StorageError)
  })
})

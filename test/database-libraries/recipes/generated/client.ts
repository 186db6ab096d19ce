import * as runtime from '@prisma/client/runtime/client'

/*
 * What `prisma generate` writes for the schema below, less the types that the recipe does not use: the command would
 * have to download an engine.
 */

const SCHEMA = `
datasource db {
  provider = "postgresql"
}
model Charge {
  id     Int @id @default(autoincrement())
  amount Int
  @@map("charges")
}
`

interface Charges {
  create(query: { readonly data: { readonly amount: number } }): Promise<unknown>
}

interface Statements {
  readonly charge: Charges
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>
}

interface Client extends Statements {
  $transaction<T>(work: (tx: Statements) => Promise<T>): Promise<T>
}

const scalar = (name: string) => ({ name, kind: 'scalar', type: 'Int' })

export const PrismaClient = runtime.getPrismaClient({
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
  activeProvider: 'postgresql',
  inlineSchema: SCHEMA,
  runtimeDataModel: {
    models: { Charge: { fields: [scalar('id'), scalar('amount')], dbName: 'charges', schema: null } },
    enums: {},
    types: {},
  },
  parameterizationSchema: { strings: [], graph: 'AAAAAAAAAAAAAAAAAAAAAA' },
  compilerWasm: {
    // @ts-expect-error: it has no types.
    getRuntime: () => import('@prisma/client/runtime/query_compiler_fast_bg.postgresql.mjs'),
    getQueryCompilerWasmModule: async () => {
      // @ts-expect-error: it has no types.
      const { wasm } = await import('@prisma/client/runtime/query_compiler_fast_bg.postgresql.wasm-base64.mjs')
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
    },
    importName: './query_compiler_fast_bg.js',
  },
} as unknown as runtime.GetPrismaClientConfig) as unknown as new (options: {
  readonly adapter: unknown
}) => Client

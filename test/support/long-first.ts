import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In a fresh clone vitest begins with the largest files. These are small and take long: begun last, they end alone. */
const LONG = [
  'scenario/claims.test.ts',
  'storm/experiments/defaults.test.ts',
  'sqlite/sqlite-locks.test.ts',
  'sqlite/persist-row.test.ts',
  'crash/kill-matrix.browser.test.ts',
  'simulation/bite.test.ts',
  'bench/sections.test.ts',
  'hunt/hunt.test.ts',
  'hunt/hunt.postgres.test.ts',
  'crash/frozen.browser.test.ts',
  'simulation/simulation.test.ts',
  'architecture/package.test.ts',
  'documentation/code-blocks.test.ts',
]

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((name) => moduleId.endsWith(name))
    const others = await super.sort(files.filter((file) => !isLong(file)))
    const long = LONG.flatMap((name) => files.filter(({ moduleId }) => moduleId.endsWith(name)))
    return [...long, ...others]
  }
}

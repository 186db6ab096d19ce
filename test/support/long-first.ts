import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In a fresh clone vitest begins with the largest files. These are small and take long: begun last, they end alone. */
const LONG = [
  'simulation/bite.test.ts',
  'hunt/hunt.test.ts',
  'hunt/hunt.postgres.test.ts',
  'simulation/simulation.test.ts',
]

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((name) => moduleId.endsWith(name))
    const others = await super.sort(files.filter((file) => !isLong(file)))
    return [...files.filter(isLong), ...others]
  }
}

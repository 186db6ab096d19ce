import { simulate } from '../../src/testing/simulation/simulate.ts'

// Runs as a program of its own, bundled with a fault in the product: prints how many histories it took to see it.
const [seed, histories] = process.argv.slice(2).map(Number)
const { histories: took, failed } = await simulate({ seed, histories })
process.stdout.write(JSON.stringify({ took, failed }))

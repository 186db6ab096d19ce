import { simulate } from '../../src/testing/simulation/simulate.ts'

// Runs as a program of its own, bundled with a fault in the product: prints how many histories it took to see it.
const histories = Number(process.argv[2])
const { histories: took, failed } = await simulate({ seed: 1, histories })
process.stdout.write(JSON.stringify({ took, failed }))

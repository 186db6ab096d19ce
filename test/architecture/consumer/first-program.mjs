import * as holdfast from 'holdfast'
import * as sqlite from 'holdfast/sqlite'
import { tellStory } from './story.cjs'

await tellStory(holdfast, sqlite)

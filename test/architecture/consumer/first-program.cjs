const { tellStory } = require('./story.cjs')

tellStory(require('holdfast'), require('holdfast/sqlite'), require('holdfast/testing'))

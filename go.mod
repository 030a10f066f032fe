module github.com/fabricbot/fabricbot

go 1.26.8

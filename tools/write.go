package tools

import (
	"errors"
	"fmt"
)

// newWrite makes the tool Write.
func newWrite(b *workbench) *changer {
	return &changer{workbench: b, plan: planWrite, spec: b.fileSpec("Write",
		"Write a file of the workspace: content becomes all of it. A file that exists is replaced and keeps its mode; "+
			"missing folders are made. To change a part of a file use Edit.",
		`{"type":"object","additionalProperties":false,"required":["path","content"],"properties":{`+
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},`+
			`"content":{"type":"string","description":"the whole new content"}}}`)}
}

func planWrite(arguments []byte) (change, error) {
	var args struct {
		Path    *string `json:"path"`
		Content *string `json:"content"`
	}
	if err := decode(arguments, &args); err != nil {
		return change{}, err
	}
	if err := errors.Join(needs("path", args.Path), needs("content", args.Content)); err != nil {
		return change{}, err
	}
	return change{path: *args.Path, makes: true, apply: func([]byte) ([]byte, string, error) {
		return []byte(*args.Content), fmt.Sprintf("wrote %d bytes to %s", len(*args.Content), *args.Path), nil
	}}, nil
}

// Reads a served log with Go's own verifier, golang.org/x/mod/sumdb: every entry, every hash, under the signed checkpoint.
//
//	go run log.go KEYS URL [OLD-CHECKPOINT-FILE]
//
// KEYS are the log's verifier keys (name+id+base64) with commas between them, one of which must have signed and none falsely;
// URL is the log's prefix. The last line is "ok SIZE" or a reason, and the
// exit code says which. Nothing is skipped: an entry that isn't read is an error.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// C2SP tlog-tiles has tiles of height 8 and paths without it; sumdb writes the height after "tile/".
const height = 8

type served struct{ prefix string }

func (s served) get(path string) ([]byte, error) {
	answer, err := http.Get(s.prefix + "/" + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", path, answer.Status)
	}
	return body, nil
}

func place(tile tlog.Tile) string {
	path := strings.TrimPrefix(tile.Path(), "tile/8/")
	return "tile/" + strings.Replace(path, "data/", "entries/", 1)
}

// served is a tlog.TileReader: what it returns is checked by the tlog package against the tree's root.
func (s served) Height() int                     { return height }
func (s served) SaveTiles([]tlog.Tile, [][]byte) {}
func (s served) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		data, err := s.get(place(tile))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// The cache only spares requests: it holds tiles that the reader has verified, because it is filled by SaveTiles alone.
type cached struct {
	served
	tiles map[tlog.Tile][]byte
}

func (c cached) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for i, tile := range tiles {
		c.tiles[tile] = data[i]
	}
}

func (c cached) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	all := make([][]byte, len(tiles))
	for i, tile := range tiles {
		if known, ok := c.tiles[tile]; ok {
			all[i] = known
			continue
		}
		read, err := c.served.ReadTiles(tiles[i : i+1])
		if err != nil {
			return nil, err
		}
		all[i] = read[0]
	}
	return all, nil
}

func open(text []byte, name string, keys note.Verifiers) (tlog.Tree, error) {
	opened, err := note.Open(text, keys)
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != name {
		return tlog.Tree{}, errors.New("not a checkpoint of this log")
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// split takes an entry bundle apart: each entry after its length in two bytes.
func split(bundle []byte) ([][]byte, error) {
	var entries [][]byte
	for len(bundle) > 0 {
		if len(bundle) < 2 {
			return nil, errors.New("a bundle that breaks off")
		}
		length := int(binary.BigEndian.Uint16(bundle))
		if len(bundle) < 2+length {
			return nil, errors.New("a bundle that breaks off")
		}
		entries = append(entries, bundle[2:2+length])
		bundle = bundle[2+length:]
	}
	return entries, nil
}

// verifiers reads keys that must all have one name: the log's.
func verifiers(keyTexts string) (string, note.Verifiers, error) {
	var keys []note.Verifier
	for _, keyText := range strings.Split(keyTexts, ",") {
		key, err := note.NewVerifier(keyText)
		if err != nil {
			return "", nil, err
		}
		keys = append(keys, key)
		if key.Name() != keys[0].Name() {
			return "", nil, errors.New("keys of several logs")
		}
	}
	return keys[0].Name(), note.VerifierList(keys...), nil
}

func check(keyTexts, prefix, old string) (int64, error) {
	name, keys, err := verifiers(keyTexts)
	if err != nil {
		return 0, err
	}
	log := cached{served{strings.TrimSuffix(prefix, "/")}, map[tlog.Tile][]byte{}}
	text, err := log.get("checkpoint")
	if err != nil {
		return 0, err
	}
	tree, err := open(text, name, keys)
	if err != nil {
		return 0, fmt.Errorf("checkpoint: %w", err)
	}
	hashes := tlog.TileHashReader(tree, log)
	if old != "" {
		text, err := os.ReadFile(old)
		if err != nil {
			return 0, err
		}
		before, err := open(text, name, keys)
		if err != nil {
			return 0, fmt.Errorf("older checkpoint: %w", err)
		}
		proof, err := tlog.ProveTree(tree.N, before.N, hashes)
		if err == nil {
			err = tlog.CheckTree(proof, tree.N, tree.Hash, before.N, before.Hash)
		}
		if err != nil {
			return 0, fmt.Errorf("consistency: %w", err)
		}
	}
	read := int64(0)
	for n := int64(0); n<<height < tree.N; n++ {
		width := min(tree.N-n<<height, 1<<height)
		data, err := log.get(place(tlog.Tile{H: height, L: -1, N: n, W: int(width)}))
		if err != nil {
			return 0, err
		}
		entries, err := split(data)
		if err != nil || int64(len(entries)) != width {
			return 0, fmt.Errorf("bundle %d: %d entries, not %d (%v)", n, len(entries), width, err)
		}
		indexes := make([]int64, width)
		for i := range indexes {
			indexes[i] = tlog.StoredHashIndex(0, n<<height+int64(i))
		}
		known, err := hashes.ReadHashes(indexes)
		if err != nil {
			return 0, fmt.Errorf("tiles of bundle %d: %w", n, err)
		}
		for i, entry := range entries {
			index, hash := n<<height+int64(i), tlog.RecordHash(entry)
			if !bytes.Equal(hash[:], known[i][:]) {
				return 0, fmt.Errorf("entry %d is not the one in the tree", index)
			}
			// A few whole proofs, made from tiles and checked against the root.
			if index%4099 == 0 || index == tree.N-1 {
				proof, err := tlog.ProveRecord(tree.N, index, hashes)
				if err == nil {
					err = tlog.CheckRecord(proof, tree.N, tree.Hash, index, hash)
				}
				if err != nil {
					return 0, fmt.Errorf("proof of entry %d: %w", index, err)
				}
			}
			read++
		}
	}
	if read != tree.N {
		return 0, fmt.Errorf("%d entries of %d were read", read, tree.N)
	}
	return read, nil
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: log KEYS URL [OLD-CHECKPOINT-FILE]")
		os.Exit(2)
	}
	old := ""
	if len(os.Args) > 3 {
		old = os.Args[3]
	}
	size, err := check(os.Args[1], os.Args[2], old)
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	fmt.Println("ok", size)
}

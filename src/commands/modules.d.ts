/** The Public Suffix List as `tldts` ships it, without types: a tree of labels in flat arrays. */
declare module "tldts/dist/es6/src/data/trie.js" {
  /** For each node: the section in which its name is a suffix; 0 if it is not one. */
  export const nodeFlags: Uint8Array;
  /** For each node: the index of its first edge. Its last edge precedes the next node's first. */
  export const edgeStart: Uint16Array;
  /** For each edge: the length of its label, and the node it leads to. */
  export const edgeLength: Uint8Array;
  export const edgeChild: Uint16Array;
  /** All labels, in the order of the edges. */
  export const labelText: string;
  export const rulesRoot: number;
}

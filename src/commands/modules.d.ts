/** The list's data, which `tldts` ships without naming it in its types: a tree of labels, flattened. */
declare module "tldts/dist/es6/src/data/trie.js" {
  /** Of each node, in which section its name is a suffix; 0: in none. */
  export const nodeFlags: Uint8Array;
  /** Of each node, its first edge; the next node's first edge is its end. */
  export const edgeStart: Uint16Array;
  /** Of each edge, how long its label is and where it leads. */
  export const edgeLength: Uint8Array;
  export const edgeChild: Uint16Array;
  /** All labels, in the order of the edges. */
  export const labelText: string;
  export const rulesRoot: number;
}

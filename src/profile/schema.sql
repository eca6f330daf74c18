-- The profile. docs/profile-schema.md explains it. Columns hold NULL where something was
-- not measured or is not known; ids count from 1. Integers above 2^63 - 1 (addresses, hashes) are
-- stored as their two's complement.

CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- What numbers in columns stand for: kind is 'space', 'access', 'object', 'call', 'class', 'owner',
-- 'why', 'way', 'known', 'module', 'registers', 'node', 'freed', 'pool' or 'trial'.
CREATE TABLE names (
  kind TEXT NOT NULL, value INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (kind, value)
) WITHOUT ROWID;

-- objects_dropped: allocations by kernels without a row in objects, since there were too many.
CREATE TABLE processes (
  id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, parent_pid INTEGER NOT NULL,
  executable TEXT NOT NULL, directory TEXT NOT NULL, host TEXT NOT NULL,
  collector TEXT NOT NULL, version TEXT NOT NULL, options TEXT NOT NULL,
  start_ns INTEGER NOT NULL,
  end_ns INTEGER,
  cut_off TEXT,
  objects_dropped INTEGER NOT NULL
);

CREATE TABLE arguments (
  process INTEGER NOT NULL, position INTEGER NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (process, position)
) WITHOUT ROWID;

CREATE TABLE devices (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  name TEXT NOT NULL, file TEXT NOT NULL,
  cc_major INTEGER NOT NULL, cc_minor INTEGER NOT NULL, sms INTEGER NOT NULL,
  global_bytes INTEGER NOT NULL
);

-- Source files. text: zstd; missing says why there is none.
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, system INTEGER NOT NULL,
  bytes INTEGER NOT NULL, missing TEXT NOT NULL, text BLOB
);

-- Places in source files; inlined_at names the place of the call.
CREATE TABLE locs (
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
  function TEXT NOT NULL, inlined_at INTEGER
);

-- Code that kernels come from. kind: ptx or cubin. code: zstd; NULL of a large cubin.
CREATE TABLE modules (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, hash INTEGER NOT NULL,
  bytes INTEGER NOT NULL, code BLOB
);

-- machine_sm: compute capability, times ten, of the machine code that static_mix.machine was counted
-- from; NULL where it is expected from the PTX. machine_missing says why, or what was not counted.
CREATE TABLE kernels (
  id INTEGER PRIMARY KEY, mangled TEXT NOT NULL, name TEXT NOT NULL, short_name TEXT NOT NULL,
  module INTEGER, file INTEGER, line INTEGER,
  ncode INTEGER NOT NULL, nblocks INTEGER NOT NULL, missing TEXT NOT NULL,
  machine_sm INTEGER, machine_missing TEXT NOT NULL
);

-- Static instructions. ptx_line: in the module's text; of machine code in the PTX that it keeps, 0 where
-- there is none. loc: the innermost place; file, line, col: where it counts.
CREATE TABLE code (
  kernel INTEGER NOT NULL, pc INTEGER NOT NULL,
  text TEXT NOT NULL, op TEXT NOT NULL, function TEXT NOT NULL, ptx_line INTEGER NOT NULL,
  block INTEGER, loc INTEGER, file INTEGER, line INTEGER, col INTEGER,
  PRIMARY KEY (kernel, pc)
) WITHOUT ROWID;

-- The other form of a kernel's code, beside `code`: of one with PTX the machine code that the program's
-- file has for the device, or for the one nearest to it; of one that came as machine code the PTX that
-- ptxas kept in it, and the machine code where `code` could not be made of it. kind ('module' in names):
-- what is listed. sm: compute capability, times ten, that the machine code was made for; device_sm: of
-- the device of the first launch. missing: why there is no data. apart: why instructions are not known by
-- the line of the PTX that they were made from. bytes: of data before zstd.
CREATE TABLE listings (
  kernel INTEGER NOT NULL, kind INTEGER NOT NULL,
  sm INTEGER, device_sm INTEGER, instructions INTEGER NOT NULL,
  missing TEXT NOT NULL, apart TEXT NOT NULL, bytes INTEGER NOT NULL, data BLOB,
  PRIMARY KEY (kernel, kind)
) WITHOUT ROWID;

-- What is known of code without running it (docs/flow.md). Basic blocks, by their first
-- instruction; loop: the header of the innermost loop that it is in. ilp, mlp: instructions and
-- memory requests that can overlap; mlp is NULL without loads. chain_loads, chain_shared: the most
-- loads that wait for each other along any chain of dependences in the block: of global, local and
-- generic memory and textures (atomics with a result are loads, too), and of shared memory.
CREATE TABLE static_blocks (
  kernel INTEGER NOT NULL, first_pc INTEGER NOT NULL, ninsns INTEGER NOT NULL,
  loop INTEGER, ilp REAL, mlp REAL,
  chain_loads INTEGER NOT NULL, chain_shared INTEGER NOT NULL,
  PRIMARY KEY (kernel, first_pc)
) WITHOUT ROWID;

-- Instructions of these blocks by class. chain: how many of them lie on the block's longest chain of
-- dependences (docs/flow.md). machine: how many machine instructions of the class a run of the
-- block takes, counted or expected (kernels.machine_sm); chain_machine: how many the chain is expected
-- to become. Classes that a block has neither of have no row.
CREATE TABLE static_mix (
  kernel INTEGER NOT NULL, first_pc INTEGER NOT NULL, class INTEGER NOT NULL,
  instructions INTEGER NOT NULL, chain INTEGER NOT NULL, machine REAL,
  chain_machine REAL,
  PRIMARY KEY (kernel, first_pc, class)
) WITHOUT ROWID;

-- Loops, by the first instruction of their header, in which forms call the iterations i and the
-- loop's number. outer: the header of the loop around it. times: how often the header runs where
-- that is constant; trips: the same, or the condition to go on, as text.
CREATE TABLE loops (
  kernel INTEGER NOT NULL, header INTEGER NOT NULL, number INTEGER NOT NULL,
  depth INTEGER NOT NULL, outer INTEGER, times INTEGER, trips TEXT NOT NULL,
  PRIMARY KEY (kernel, header)
) WITHOUT ROWID;

-- Addresses that are sums of products of indices, parameters and iterations; those without such a
-- form have no row. position: of several addresses of an instruction. bytes: by a lane, 0 where
-- that is not constant. no_wrap: 1 where the form holds only if no 32-bit step overflows.
CREATE TABLE forms (
  kernel INTEGER NOT NULL, pc INTEGER NOT NULL, position INTEGER NOT NULL,
  bytes INTEGER NOT NULL, form TEXT NOT NULL, no_wrap INTEGER NOT NULL,
  PRIMARY KEY (kernel, pc, position)
) WITHOUT ROWID;

-- What an instruction writes to shared memory. origin ('origin' in names): where the value comes
-- from; copied: 1 where it is what was loaded from device memory; updates: 1 where it depends on what
-- the word held; unknown: 1 where it may come from somewhere that is not followed.
CREATE TABLE fills (
  kernel INTEGER NOT NULL, pc INTEGER NOT NULL, origin INTEGER NOT NULL,
  copied INTEGER NOT NULL, updates INTEGER NOT NULL, unknown INTEGER NOT NULL,
  PRIMARY KEY (kernel, pc)
) WITHOUT ROWID;

-- Loads from shared memory that such a value may depend on: executions by the thread (scope 0), by
-- any thread of its warp (1) or block (2). earlier: 1 where others than the last count, too.
CREATE TABLE fill_reads (
  kernel INTEGER NOT NULL, pc INTEGER NOT NULL, load INTEGER NOT NULL, scope INTEGER NOT NULL,
  decides INTEGER NOT NULL, earlier INTEGER NOT NULL,
  PRIMARY KEY (kernel, pc, load)
) WITHOUT ROWID;

-- Basic blocks after which others can run; both by their first instruction.
CREATE TABLE successors (
  kernel INTEGER NOT NULL, first_pc INTEGER NOT NULL, next_pc INTEGER NOT NULL,
  PRIMARY KEY (kernel, first_pc, next_pc)
) WITHOUT ROWID;

-- Barriers of kernels of which it can be followed what they order (src/flow/barriers.h). meets: all
-- threads of the block (0), the same with a result that they need (1), the lanes of a warp (2).
CREATE TABLE barriers (
  kernel INTEGER NOT NULL, pc INTEGER NOT NULL, meets INTEGER NOT NULL,
  PRIMARY KEY (kernel, pc)
) WITHOUT ROWID;

-- What must hold of a thread that makes an access, in kernels with rows in barriers, as an expression
-- (src/flow/premises.h); of accesses that any thread may make there is no row.
CREATE TABLE premises (
  kernel INTEGER NOT NULL, pc INTEGER NOT NULL, premise TEXT NOT NULL,
  PRIMARY KEY (kernel, pc)
) WITHOUT ROWID;

-- Launches that differ in nothing but when they ran and how long: a row for all of them. first: the
-- id of the first; count: how many; timed: those of them whose device_seconds are known. Seconds are
-- sums over those that have any; device_least and device_most are of one launch.
CREATE TABLE launch_kinds (
  id INTEGER PRIMARY KEY, first INTEGER NOT NULL, count INTEGER NOT NULL, timed INTEGER NOT NULL,
  host_seconds REAL, device_seconds REAL, device_least REAL, device_most REAL,
  process INTEGER NOT NULL, kernel INTEGER NOT NULL,
  grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  cluster_x INTEGER NOT NULL, cluster_y INTEGER NOT NULL, cluster_z INTEGER NOT NULL,
  dynamic_shared INTEGER NOT NULL, static_shared INTEGER NOT NULL,
  local_bytes INTEGER NOT NULL, registers INTEGER NOT NULL,
  stream INTEGER NOT NULL, device INTEGER NOT NULL, context INTEGER NOT NULL,
  error INTEGER NOT NULL, fault TEXT NOT NULL,
  warp_instructions INTEGER NOT NULL, thread_instructions INTEGER NOT NULL,
  longest_warp INTEGER NOT NULL, busiest_block INTEGER NOT NULL, longest_warps INTEGER NOT NULL,
  blocks_run INTEGER NOT NULL, blocks_observed INTEGER NOT NULL, blocks_sampled INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  way INTEGER NOT NULL, estimated INTEGER NOT NULL, recorded INTEGER NOT NULL,
  accesses_known INTEGER NOT NULL, mix_whole INTEGER NOT NULL, registers_by INTEGER NOT NULL,
  rows_of INTEGER NOT NULL, moves INTEGER,
  objects_known INTEGER, arrays_known INTEGER,
  warps_dropped INTEGER
);
CREATE INDEX launch_kinds_by_kernel ON launch_kinds (kernel);
CREATE INDEX launch_kinds_by_rows ON launch_kinds (rows_of);

-- Every launch.
CREATE TABLE launch_times (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, number INTEGER NOT NULL,
  call INTEGER, ordinal INTEGER,
  host_seconds REAL, device_seconds REAL, device_start REAL
);

-- A launch that did what an earlier one did has no rows of its own: rows_of names the launch whose
-- rows in mix, instructions, blocks, heats, samples, reuses, uses and live_ranges are its too (else
-- its own id), and moves the objects that others stand for.
CREATE TABLE moves (
  id INTEGER NOT NULL, object INTEGER NOT NULL, becomes INTEGER NOT NULL,
  PRIMARY KEY (id, object)
) WITHOUT ROWID;

-- What ended a launch. object: the one that the access hit or missed by least, 0 where there is none.
CREATE TABLE faults (
  launch INTEGER PRIMARY KEY, kind TEXT NOT NULL, what TEXT NOT NULL, pc INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  thread_x INTEGER NOT NULL, thread_y INTEGER NOT NULL, thread_z INTEGER NOT NULL,
  address INTEGER NOT NULL, bytes INTEGER NOT NULL, object INTEGER NOT NULL
);

-- Parameters of kernels; offset: in a launch's parameters. type: '' where the kernel's name does not tell;
-- name: '' where the program has no debug information that tells.
CREATE TABLE parameters (
  kernel INTEGER NOT NULL, position INTEGER NOT NULL, offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  type TEXT NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (kernel, position)
) WITHOUT ROWID;

-- Words of a launch's parameters that were addresses of live objects: through which parameter a kernel reached what.
CREATE TABLE reaches (
  launch INTEGER NOT NULL, offset INTEGER NOT NULL, object INTEGER NOT NULL, object_offset INTEGER NOT NULL,
  PRIMARY KEY (launch, offset)
) WITHOUT ROWID;

-- Objects that a launch accessed through pointers that come from no parameter, as the probe `objects` saw
-- it in all blocks; of launches with rows of their own. loads, stores, atomics: 1 where there were any.
CREATE TABLE indirect_reaches (
  launch INTEGER NOT NULL, object INTEGER NOT NULL,
  loads INTEGER NOT NULL, stores INTEGER NOT NULL, atomics INTEGER NOT NULL,
  PRIMARY KEY (launch, object)
) WITHOUT ROWID;

-- Instructions whose accesses were not observed in a launch, and why; of launches with rows of their own (rows_of), and of
-- those of which nothing was worked out.
CREATE TABLE gaps (
  launch INTEGER NOT NULL, pc INTEGER NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY (launch, pc)
) WITHOUT ROWID;

-- Executed instructions by class; classes that did not occur have no row.
CREATE TABLE mix (
  launch INTEGER NOT NULL, class INTEGER NOT NULL,
  warp_instructions INTEGER NOT NULL, thread_instructions INTEGER NOT NULL,
  PRIMARY KEY (launch, class)
) WITHOUT ROWID;

-- Memory instructions: one row an instruction, object and space of a launch.
CREATE TABLE instructions (
  launch INTEGER NOT NULL, position INTEGER NOT NULL,
  pc INTEGER NOT NULL, object INTEGER, space INTEGER NOT NULL, access INTEGER NOT NULL,
  bytes INTEGER NOT NULL, flags INTEGER NOT NULL,
  executions INTEGER NOT NULL, execution_lanes INTEGER NOT NULL,
  requests INTEGER NOT NULL, active_lanes INTEGER NOT NULL,
  sectors INTEGER NOT NULL, sectors_min INTEGER NOT NULL,
  wavefronts INTEGER NOT NULL, wavefronts_min INTEGER NOT NULL, turns INTEGER, slice_turns INTEGER,
  uniform INTEGER NOT NULL, contiguous INTEGER NOT NULL, misaligned INTEGER NOT NULL,
  strided INTEGER NOT NULL, irregular INTEGER NOT NULL, stride INTEGER NOT NULL,
  PRIMARY KEY (launch, position)
) WITHOUT ROWID;

-- Basic blocks.
CREATE TABLE blocks (
  launch INTEGER NOT NULL, block INTEGER NOT NULL,
  first_pc INTEGER NOT NULL, ninsns INTEGER NOT NULL,
  executions INTEGER NOT NULL, lanes INTEGER NOT NULL,
  PRIMARY KEY (launch, block)
) WITHOUT ROWID;

-- Data objects. process: NULL for a kernel's shared and local memory, which have a kernel instead.
-- freed_how ('freed' in names): 'exit' was never freed; NULL where the process did not end in order.
-- parent: the object that it is a part of. pool: of pools. tag, element_bytes: what the program called it
-- ('' where it did not), and the size of its elements. made_by: of device-side malloc, the kernel and
-- the instruction that called it.
CREATE TABLE objects (
  id INTEGER PRIMARY KEY, process INTEGER, kernel INTEGER,
  kind INTEGER NOT NULL, space INTEGER NOT NULL, device INTEGER NOT NULL,
  name TEXT NOT NULL, variable TEXT NOT NULL,
  base INTEGER NOT NULL, bytes INTEGER NOT NULL,
  alloc_call INTEGER, free_call INTEGER, alloc_order INTEGER NOT NULL, free_order INTEGER,
  freed_how INTEGER, parent INTEGER, pool INTEGER, tag TEXT NOT NULL, element_bytes INTEGER,
  made_by_kernel INTEGER, made_by_pc INTEGER,
  file INTEGER, line INTEGER, caller_file INTEGER, caller_line INTEGER, function TEXT NOT NULL
);

-- Pools that objects were taken from; kind ('pool' in names): the default pool of its device, or created.
CREATE TABLE pools (
  process INTEGER NOT NULL, pool INTEGER NOT NULL, kind INTEGER NOT NULL, device INTEGER NOT NULL
);

-- What a pool held after a call, in order: bytes taken from the device, and of these bytes handed out.
-- call: NULL where it is seen later, as after a synchronisation.
CREATE TABLE pool_states (
  process INTEGER NOT NULL, pool INTEGER NOT NULL, call INTEGER,
  reserved INTEGER NOT NULL, used INTEGER NOT NULL
);

-- Of calls that a helper makes which is called from several places: from where, by stack. The innermost
-- caller by which the stacks of one line differ.
CREATE TABLE callers (
  stack INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER NOT NULL
);

-- Allocations that failed for want of memory: bytes that the device had left, and has.
CREATE TABLE refusals (
  call INTEGER PRIMARY KEY, free INTEGER NOT NULL, total INTEGER NOT NULL
);

-- ordinal, here and in launches: one order over the calls of a process, the nodes of its graphs and
-- its launches. flags: cap_call's. parent: of a graph's node, the call that launched the graph.
-- event, version: that the call records or waits for, and how often it was recorded by then. width
-- to target_rows: of copies and sets of several rows or slices. ranges: range_lists.list, of those it was made in.
CREATE TABLE calls (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, number INTEGER NOT NULL,
  api TEXT NOT NULL, kind INTEGER NOT NULL, stream INTEGER NOT NULL, thread INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, result INTEGER NOT NULL,
  source_object INTEGER, source_offset INTEGER NOT NULL,
  target_object INTEGER, target_offset INTEGER NOT NULL, bytes INTEGER NOT NULL,
  stack INTEGER, file INTEGER, line INTEGER, function TEXT NOT NULL,
  device_seconds REAL, device_start REAL,
  ordinal INTEGER, device INTEGER NOT NULL, context INTEGER NOT NULL, flags INTEGER NOT NULL,
  parent INTEGER, event INTEGER, version INTEGER,
  width INTEGER, rows INTEGER, slices INTEGER, source_pitch INTEGER, source_rows INTEGER,
  target_pitch INTEGER, target_rows INTEGER, ranges INTEGER
);

-- Ranges of the program's own (NVTX) in which calls were made. kind ('range' in names): pushed by a
-- thread, numbered as in calls, or started, for all threads.
CREATE TABLE ranges (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kind INTEGER NOT NULL, thread INTEGER,
  domain TEXT NOT NULL, name TEXT NOT NULL
);

-- Ranges that were open at once, in the order in which they were opened; calls.ranges is such a list.
CREATE TABLE range_lists (
  list INTEGER NOT NULL, position INTEGER NOT NULL, range INTEGER NOT NULL,
  PRIMARY KEY (list, position)
) WITHOUT ROWID;

CREATE INDEX calls_that_copy ON calls (kind) WHERE kind IN (2, 3);
CREATE INDEX calls_that_failed ON calls (process, result) WHERE result <> 0;

-- Streams; kind: cap_stream_kind, stream: as in calls and launches, never given out again.
CREATE TABLE streams (
  process INTEGER NOT NULL, stream INTEGER NOT NULL, kind INTEGER NOT NULL,
  device INTEGER NOT NULL, context INTEGER NOT NULL, flags INTEGER NOT NULL,
  priority INTEGER NOT NULL
);

-- Graphs that were launched. Nodes are in an order in which they can run; the nodes of a child graph
-- follow the node that holds them. type: 'node' in names. edges_known: 0 where they were not told.
CREATE TABLE graphs (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, edges_known INTEGER NOT NULL
);
CREATE TABLE graph_nodes (
  graph INTEGER NOT NULL, node INTEGER NOT NULL, type INTEGER NOT NULL,
  PRIMARY KEY (graph, node)
) WITHOUT ROWID;

-- The node target waits for source.
CREATE TABLE graph_edges (
  graph INTEGER NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL,
  PRIMARY KEY (graph, source, target)
) WITHOUT ROWID;

-- The graph that a call launched; what its nodes did then has these ordinals among calls and launches.
CREATE TABLE graph_runs (call INTEGER PRIMARY KEY, graph INTEGER NOT NULL);
CREATE TABLE graph_steps (
  call INTEGER NOT NULL, node INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  PRIMARY KEY (call, node)
) WITHOUT ROWID;

-- Call stacks, innermost frame first.
CREATE TABLE frames (
  stack INTEGER NOT NULL, depth INTEGER NOT NULL,
  function TEXT NOT NULL, file INTEGER, line INTEGER,
  binary TEXT NOT NULL, offset INTEGER NOT NULL, inlined INTEGER NOT NULL,
  PRIMARY KEY (stack, depth)
) WITHOUT ROWID;

-- Rows of heat maps: blobs that several maps may share.
CREATE TABLE contents (
  id INTEGER PRIMARY KEY, nrows INTEGER NOT NULL, npcsets INTEGER NOT NULL, npcs INTEGER NOT NULL,
  data BLOB NOT NULL
);

CREATE TABLE heats (
  id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, object INTEGER, space INTEGER NOT NULL,
  block INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  warps INTEGER NOT NULL, dropped INTEGER NOT NULL, content INTEGER NOT NULL
);
CREATE INDEX heats_by_launch ON heats (launch);

-- Blocks that were chosen for heat maps, and why ('why' in names). alike: blocks that it stands
-- for, itself included. mapped: 0 where its accesses were too many to keep until it was chosen.
CREATE TABLE samples (
  launch INTEGER NOT NULL, block INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  why INTEGER NOT NULL, mapped INTEGER NOT NULL, alike INTEGER,
  instructions INTEGER, requests INTEGER NOT NULL, sectors INTEGER NOT NULL,
  PRIMARY KEY (launch, block)
) WITHOUT ROWID;

-- Uses of an object's sectors in global memory by a block that was chosen for heat maps, by how many
-- other lines (128 bytes) the block touched since the use before: a row for each octave, distance is
-- the mean, NULL for first uses. Loads count from the last load of the sector, stores from the last
-- load or store. waits: bursts of loads, which a warp waits for together, whose farthest use it is. A block
-- and object without a row: not known.
CREATE TABLE reuses (
  launch INTEGER NOT NULL, position INTEGER NOT NULL, block INTEGER NOT NULL, object INTEGER,
  distance INTEGER, loads INTEGER NOT NULL, stores INTEGER NOT NULL, waits INTEGER NOT NULL,
  PRIMARY KEY (launch, position)
) WITHOUT ROWID;

-- What a launch would have done with a change of its kernel: kind ('trial' in names) is 'transposed' (x and
-- y exchanged in all indices, in blocks of block_x and block_y threads; pc reads the thread's index),
-- 'widened' (blocks of block_x and block_y threads), or of one object: 'padded' (a shared array) and 'spread'
-- (in global memory; pad bytes added after each pitch bytes), 'moved' (pad bytes left free before it) or
-- 'split' (records of pitch bytes, of which pad are used, into an array for each field); or 'regridded' (a grid
-- of block_x blocks that do the same work); or
-- what is kept in pad bytes of shared memory: 'staged' (a block's part of the object, or what pitch turns of a
-- loop take of it, loaded once), 'combined' and 'private' (updates of
-- it, made in the object once a block; combined by warp before that), 'kept' (a block's own part, loaded and stored
-- once), 'exchanged' (either of these in the place of a shared array that is left out as in 'direct'; rows of
-- both); or 'direct' (what a shared array passes on loaded from its object in each place) and 'swizzled' (a shared
-- array's elements permuted within rows of pitch bytes, pad bytes of which stay together); what accesses it has the space, no array. The instructions that the change is about, as they are (after 0) and with it (1), in the same blocks.
CREATE TABLE trials (
  id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, kind INTEGER NOT NULL, blocks INTEGER NOT NULL,
  pc INTEGER NOT NULL, block_x INTEGER NOT NULL, block_y INTEGER NOT NULL,
  object INTEGER, pitch INTEGER NOT NULL, pad INTEGER NOT NULL
);

CREATE TABLE trial_instructions (
  trial INTEGER NOT NULL, after INTEGER NOT NULL, position INTEGER NOT NULL,
  pc INTEGER NOT NULL, object INTEGER, space INTEGER NOT NULL, access INTEGER NOT NULL,
  bytes INTEGER NOT NULL, flags INTEGER NOT NULL,
  requests INTEGER NOT NULL, active_lanes INTEGER NOT NULL,
  sectors INTEGER NOT NULL, sectors_min INTEGER NOT NULL,
  wavefronts INTEGER NOT NULL, wavefronts_min INTEGER NOT NULL,
  turns INTEGER NOT NULL, slice_turns INTEGER NOT NULL,
  uniform INTEGER NOT NULL, contiguous INTEGER NOT NULL, misaligned INTEGER NOT NULL,
  strided INTEGER NOT NULL, irregular INTEGER NOT NULL, stride INTEGER NOT NULL,
  PRIMARY KEY (trial, after, position)
) WITHOUT ROWID;

-- How often the elements (aligned 4 bytes) of an object were accessed, over all blocks of a launch.
-- known ('known' in names) says what of that is known; an object without a row was not accessed
-- where launches.objects_known (shared arrays: arrays_known) is not 0. least and most: accesses of
-- a touched element; squares: the sum of their squares over all elements.
-- ranges and accesses: live ranges of a shared array's words, by where the first value came from (a
-- load from device memory, an asynchronous copy, computed), and the accesses in them after the
-- store that begins them, NULL where it is not known which of them were in ranges of which origin:
-- then all but the ranges' stores and the unfilled ones were in ranges; accesses_unfilled: of words
-- to which the block had stored nothing by then.
-- block_words: elements that a block accessed, summed over the blocks that were counted (blocks);
-- block_words_most: of the block that has most; block_accesses: of all of them.
CREATE TABLE uses (
  launch INTEGER NOT NULL, object INTEGER NOT NULL, space INTEGER NOT NULL,
  known INTEGER NOT NULL, elements INTEGER NOT NULL,
  touched INTEGER, loads INTEGER, stores INTEGER, atomics INTEGER,
  least INTEGER, most INTEGER, squares REAL, spans INTEGER,
  ranges_loaded INTEGER, ranges_copied INTEGER, ranges_computed INTEGER,
  accesses_loaded INTEGER, accesses_copied INTEGER, accesses_computed INTEGER,
  accesses_unfilled INTEGER,
  block_words INTEGER, block_words_most INTEGER, block_accesses INTEGER, blocks INTEGER,
  PRIMARY KEY (launch, object, space)
) WITHOUT ROWID;

-- How many live ranges of a shared array's words have so many accesses: up to 15 exactly that many,
-- from 16 on (16, 32, 64, ...) less than twice as many. origin ('origin' in names): where the value
-- came from that they begin with.
CREATE TABLE live_ranges (
  launch INTEGER NOT NULL, object INTEGER NOT NULL, origin INTEGER NOT NULL,
  accesses INTEGER NOT NULL, ranges INTEGER NOT NULL,
  PRIMARY KEY (launch, object, origin, accesses)
) WITHOUT ROWID;

-- Elements side by side that were accessed equally often: blobs that several uses may share. bytes:
-- unpacked.
CREATE TABLE spans (
  id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, counted INTEGER NOT NULL, data BLOB NOT NULL
);

-- What warps did, step by step, in pages that can be read alone (docs/profile-schema.md has their
-- layout; bytes: unpacked, but folded). Equal sequences of steps are kept once, over all launches;
-- nslots: objects that they access.
CREATE TABLE sequences (
  id INTEGER PRIMARY KEY, nsteps INTEGER NOT NULL, nslots INTEGER NOT NULL
);
CREATE TABLE sequence_pages (
  sequence INTEGER NOT NULL, page INTEGER NOT NULL,
  nsteps INTEGER NOT NULL, bytes INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (sequence, page)
) WITHOUT ROWID;

-- Warps of a launch that took the same steps over the same objects.
CREATE TABLE warp_groups (
  id INTEGER PRIMARY KEY, launch INTEGER NOT NULL, sequence INTEGER NOT NULL,
  nwarps INTEGER NOT NULL
);
CREATE INDEX warp_groups_by_launch ON warp_groups (launch);
CREATE TABLE warp_objects (
  warps INTEGER NOT NULL, slot INTEGER NOT NULL, space INTEGER NOT NULL, object INTEGER,
  PRIMARY KEY (warps, slot)
) WITHOUT ROWID;
CREATE TABLE warp_pages (
  warps INTEGER NOT NULL, page INTEGER NOT NULL,
  nwarps INTEGER NOT NULL, bytes INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (warps, page)
) WITHOUT ROWID;

-- Which path each warp of a launch took: the basic blocks that each of its lanes ran, in order, told by a
-- hash. instructions: the most that a lane ran; lane_instructions: of all lanes, NULL where that is not
-- known; warps: that took it, first: the first of them by its number in the grid. The paths of all warps in
-- the grid's order are in path_runs.data (docs/profile-schema.md has its layout; bytes: unpacked).
CREATE TABLE paths (
  launch INTEGER NOT NULL, path INTEGER NOT NULL, hash INTEGER NOT NULL,
  instructions INTEGER NOT NULL, lane_instructions INTEGER,
  warps INTEGER NOT NULL, first INTEGER NOT NULL,
  PRIMARY KEY (launch, path)
) WITHOUT ROWID;
CREATE TABLE path_runs (
  launch INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, data BLOB NOT NULL
);

-- Launches that were not observed.
CREATE TABLE skips (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, kernel TEXT NOT NULL, reason TEXT NOT NULL,
  count INTEGER NOT NULL
);

CREATE TABLE messages (
  id INTEGER PRIMARY KEY, process INTEGER NOT NULL, level INTEGER NOT NULL, text TEXT NOT NULL
);

CREATE TABLE unsupported (api TEXT PRIMARY KEY) WITHOUT ROWID;

-- launch_times and launch_kinds together: a row for every launch.
CREATE VIEW launches AS
SELECT t.id, k.process, t.number, k.kernel, t.call,
       k.grid_x, k.grid_y, k.grid_z, k.block_x, k.block_y, k.block_z,
       k.cluster_x, k.cluster_y, k.cluster_z,
       k.dynamic_shared, k.static_shared, k.local_bytes, k.registers,
       k.stream, k.device, k.context, t.ordinal,
       t.host_seconds, t.device_seconds, t.device_start, k.error, k.fault,
       k.warp_instructions, k.thread_instructions, k.longest_warp, k.busiest_block, k.longest_warps,
       k.blocks_run, k.blocks_observed, k.blocks_sampled, k.dropped,
       k.way, k.estimated, k.recorded, k.accesses_known, k.mix_whole, k.registers_by,
       k.rows_of, k.moves, k.objects_known, k.arrays_known, k.warps_dropped, t.kind
FROM launch_times t JOIN launch_kinds k ON k.id = t.kind;

-- ---- the rows of each launch ----
-- A launch that did what an earlier one did has that one's rows, with objects moved. These views
-- resolve that; launch is the launch's own id, kernel its kernel.

-- Launches whose rows are the same: n of them have the rows of one, with these moves.
CREATE VIEW v_same AS
SELECT kernel, rows_of, moves, sum(count) AS n FROM launch_kinds GROUP BY kernel, rows_of, moves;

CREATE VIEW launch_mix AS
SELECT l.kernel, l.id AS launch, x.class, x.warp_instructions, x.thread_instructions
FROM launches l JOIN mix x ON x.launch = l.rows_of;

CREATE VIEW launch_blocks AS
SELECT l.kernel, l.id AS launch, b.block, b.first_pc, b.ninsns, b.executions, b.lanes
FROM launches l JOIN blocks b ON b.launch = l.rows_of;

CREATE VIEW launch_instructions AS
SELECT l.kernel, l.id AS launch, i.position, i.pc, coalesce(m.becomes, i.object) AS object,
       i.space, i.access, i.bytes, i.flags, i.executions, i.execution_lanes, i.requests,
       i.active_lanes, i.sectors, i.sectors_min, i.wavefronts, i.wavefronts_min, i.turns, i.slice_turns,
       i.uniform, i.contiguous, i.misaligned, i.strided, i.irregular, i.stride
FROM launches l
JOIN instructions i ON i.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = i.object;

CREATE VIEW launch_heats AS
SELECT l.kernel, c.nrows, h.id, l.id AS launch, coalesce(m.becomes, h.object) AS object, h.space,
       h.block, h.block_x, h.block_y, h.block_z, h.warps, h.dropped, h.content,
       h.launch AS rows_of
FROM launches l
JOIN heats h ON h.launch = l.rows_of
JOIN contents c ON c.id = h.content
LEFT JOIN moves m ON m.id = l.moves AND m.object = h.object;

CREATE VIEW launch_samples AS
SELECT l.kernel, 1 AS count, l.blocks_observed, l.id AS launch, s.block, s.block_x, s.block_y, s.block_z,
       s.why, s.mapped, s.alike, s.instructions, s.requests, s.sectors
FROM launches l JOIN samples s ON s.launch = l.rows_of;

CREATE VIEW launch_uses AS
SELECT l.kernel, l.id AS launch, coalesce(m.becomes, u.object) AS object, u.space, u.known,
       u.elements, u.touched, u.loads, u.stores, u.atomics, u.least, u.most, u.squares, u.spans,
       u.ranges_loaded, u.ranges_copied, u.ranges_computed,
       u.accesses_loaded, u.accesses_copied, u.accesses_computed, u.accesses_unfilled,
       u.block_words, u.block_words_most, u.block_accesses, u.blocks
FROM launches l
JOIN uses u ON u.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = u.object;

CREATE VIEW launch_live_ranges AS
SELECT l.kernel, l.id AS launch, v.object, v.origin, v.accesses, v.ranges
FROM launches l JOIN live_ranges v ON v.launch = l.rows_of;

CREATE VIEW launch_warps AS
SELECT l.kernel, l.id AS launch, w.id AS warps, w.sequence, w.nwarps, s.nsteps, o.slot, o.space,
       coalesce(m.becomes, o.object) AS object
FROM launches l
JOIN warp_groups w ON w.launch = l.rows_of
JOIN sequences s ON s.id = w.sequence
LEFT JOIN warp_objects o ON o.warps = w.id
LEFT JOIN moves m ON m.id = l.moves AND m.object = o.object;

-- Which path each warp of a launch took, of every launch.
CREATE VIEW launch_paths AS
SELECT l.id AS launch, l.kernel, p.path, p.hash, p.instructions, p.lane_instructions, p.warps, p.first
FROM launches l JOIN paths p ON p.launch = l.rows_of;

-- What each launch moved of each object.
CREATE VIEW traffic AS
SELECT launch, object, space, sum(requests) AS requests, sum(sectors) AS sectors,
       sum(sectors_min) AS sectors_min, sum(wavefronts) AS wavefronts,
       sum(wavefronts_min) AS wavefronts_min
FROM instructions GROUP BY launch, object, space;

CREATE VIEW launch_traffic AS
SELECT l.kernel, l.id AS launch, coalesce(m.becomes, t.object) AS object, t.space,
       t.requests, t.sectors, t.sectors_min, t.wavefronts, t.wavefronts_min
FROM launches l
JOIN traffic t ON t.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = t.object;

-- ---- the rows of each kind of launch ----
-- The same for the first launch of each kind; count: how many launches it stands for.

CREATE VIEW kind_heats AS
SELECT l.kernel, l.count, c.nrows, h.id, l.first AS launch, coalesce(m.becomes, h.object) AS object, h.space,
       h.block, h.block_x, h.block_y, h.block_z, h.warps, h.dropped, h.content,
       h.launch AS rows_of
FROM launch_kinds l
JOIN heats h ON h.launch = l.rows_of
JOIN contents c ON c.id = h.content
LEFT JOIN moves m ON m.id = l.moves AND m.object = h.object;

CREATE VIEW kind_samples AS
SELECT l.kernel, l.count, l.blocks_observed, l.first AS launch, s.block, s.block_x, s.block_y, s.block_z,
       s.why, s.mapped, s.alike, s.instructions, s.requests, s.sectors
FROM launch_kinds l JOIN samples s ON s.launch = l.rows_of;

CREATE VIEW kind_uses AS
SELECT l.kernel, l.count, l.first AS launch, coalesce(m.becomes, u.object) AS object, u.space, u.known,
       u.elements, u.touched, u.loads, u.stores, u.atomics, u.least, u.most, u.squares, u.spans,
       u.ranges_loaded, u.ranges_copied, u.ranges_computed,
       u.accesses_loaded, u.accesses_copied, u.accesses_computed, u.accesses_unfilled,
       u.block_words, u.block_words_most, u.block_accesses, u.blocks
FROM launch_kinds l
JOIN uses u ON u.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = u.object;

CREATE VIEW kind_live_ranges AS
SELECT l.kernel, l.count, l.first AS launch, v.object, v.origin, v.accesses, v.ranges
FROM launch_kinds l JOIN live_ranges v ON v.launch = l.rows_of;

CREATE VIEW kind_traffic AS
SELECT l.kernel, l.count, l.first AS launch, coalesce(m.becomes, t.object) AS object, t.space,
       t.requests, t.sectors, t.sectors_min, t.wavefronts, t.wavefronts_min
FROM launch_kinds l
JOIN traffic t ON t.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = t.object;

CREATE VIEW kind_instructions AS
SELECT l.kernel, l.count, l.first AS launch, i.position, i.pc, coalesce(m.becomes, i.object) AS object,
       i.space, i.access, i.bytes, i.flags, i.executions, i.execution_lanes, i.requests,
       i.active_lanes, i.sectors, i.sectors_min, i.wavefronts, i.wavefronts_min, i.turns, i.slice_turns,
       i.uniform, i.contiguous, i.misaligned, i.strided, i.irregular, i.stride
FROM launch_kinds l
JOIN instructions i ON i.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = i.object;

-- What the model of a launch's time starts from, of each kind. Machine instructions by class, of all
-- blocks, and those of them that wait for each other.
CREATE VIEW kind_work AS
SELECT l.kernel, l.first AS launch, m.class, total(b.executions * coalesce(m.machine, m.instructions)) AS machine,
       total(b.executions * m.chain_machine) AS chain
FROM launch_kinds l
JOIN blocks b ON b.launch = l.rows_of
JOIN static_mix m ON m.kernel = l.kernel AND m.first_pc = b.first_pc
GROUP BY l.id, m.class;

-- Loads that wait for each other; and what can overlap, the mean of the basic blocks by how often they
-- ran.
CREATE VIEW kind_waits AS
SELECT l.kernel, l.first AS launch, total(b.executions * s.chain_loads) AS loads,
       total(b.executions * s.chain_shared) AS shared,
       total(b.executions * s.ilp) / sum(CASE WHEN s.ilp IS NOT NULL THEN b.executions END) AS ilp,
       total(b.executions * s.mlp) / sum(CASE WHEN s.mlp IS NOT NULL THEN b.executions END) AS mlp
FROM launch_kinds l
JOIN blocks b ON b.launch = l.rows_of
JOIN static_blocks s ON s.kernel = l.kernel AND s.first_pc = b.first_pc
GROUP BY l.id;

-- Different sectors of an object in global memory that a block touches: the mean over the blocks
-- that the maps stand for.
CREATE VIEW kind_touched AS
SELECT h.kernel, h.launch, h.object,
       sum((h.nrows + h.dropped) * coalesce(s.alike, 1)) * 1.0 / t.blocks AS sectors
FROM kind_heats h
JOIN kind_samples s ON s.launch = h.launch AND s.block = h.block
JOIN (SELECT launch, sum(coalesce(alike, 1)) AS blocks FROM kind_samples WHERE mapped GROUP BY launch) t
  ON t.launch = h.launch
WHERE h.space = 0
GROUP BY h.launch, h.object;

-- Uses of sectors by the blocks that were chosen, as many times as each stands for blocks.
CREATE VIEW kind_reuses AS
SELECT l.kernel, l.first AS launch, coalesce(m.becomes, r.object) AS object, r.distance,
       total(r.loads * coalesce(s.alike, 1)) AS loads, total(r.stores * coalesce(s.alike, 1)) AS stores,
       total(r.waits * coalesce(s.alike, 1)) AS waits
FROM launch_kinds l
JOIN reuses r ON r.launch = l.rows_of
JOIN samples s ON s.launch = r.launch AND s.block = r.block
LEFT JOIN moves m ON m.id = l.moves AND m.object = r.object
GROUP BY l.id, coalesce(m.becomes, r.object), r.distance;

CREATE VIEW kernel_trials AS
SELECT (SELECT k.kernel FROM launch_kinds k WHERE k.rows_of = t.launch ORDER BY k.id LIMIT 1) AS kernel, t.*
FROM trials t;

CREATE VIEW v_trials AS
SELECT t.id, t.launch, k.name AS kernel, n.name AS kind, t.blocks, t.object, t.pitch, t.pad,
       (SELECT total(sectors) FROM trial_instructions i WHERE i.trial = t.id AND i.after = 0) AS sectors_before,
       (SELECT total(sectors) FROM trial_instructions i WHERE i.trial = t.id AND i.after = 1) AS sectors_after,
       (SELECT total(wavefronts) FROM trial_instructions i WHERE i.trial = t.id AND i.after = 0) AS wavefronts_before,
       (SELECT total(wavefronts) FROM trial_instructions i WHERE i.trial = t.id AND i.after = 1) AS wavefronts_after
FROM kernel_trials t
LEFT JOIN kernels k ON k.id = t.kernel
LEFT JOIN names n ON n.kind = 'trial' AND n.value = t.kind;

-- ---- sums over the launches of a kernel ----

-- launch, position, bytes, flags and stride are those of the launch that moved most.
CREATE VIEW kernel_instructions AS
SELECT l.kernel, i.launch, i.position, i.pc, coalesce(m.becomes, i.object) AS object,
       i.space, i.access, i.bytes, i.flags,
       sum(l.count * i.executions) AS executions, sum(l.count * i.execution_lanes) AS execution_lanes,
       sum(l.count * i.requests) AS requests, sum(l.count * i.active_lanes) AS active_lanes,
       sum(l.count * i.sectors) AS sectors, sum(l.count * i.sectors_min) AS sectors_min,
       sum(l.count * i.wavefronts) AS wavefronts, sum(l.count * i.wavefronts_min) AS wavefronts_min,
       sum(l.count * i.turns) AS turns, sum(l.count * i.slice_turns) AS slice_turns,
       sum(l.count * i.uniform) AS uniform, sum(l.count * i.contiguous) AS contiguous,
       sum(l.count * i.misaligned) AS misaligned, sum(l.count * i.strided) AS strided,
       sum(l.count * i.irregular) AS irregular, i.stride,
       max(i.sectors + i.wavefronts) AS most
FROM launch_kinds l
JOIN instructions i ON i.launch = l.rows_of
LEFT JOIN moves m ON m.id = l.moves AND m.object = i.object
GROUP BY l.kernel, i.pc, coalesce(m.becomes, i.object), i.space;

-- launch is the first.
CREATE VIEW kernel_blocks AS
SELECT l.kernel, min(b.launch) AS launch, b.block, b.first_pc, b.ninsns,
       sum(l.count * b.executions) AS executions, sum(l.count * b.lanes) AS lanes
FROM launch_kinds l JOIN blocks b ON b.launch = l.rows_of
GROUP BY l.kernel, b.block, b.first_pc, b.ninsns;

-- executions: by warps, as far as basic blocks were counted.
CREATE VIEW kernel_barriers AS
SELECT a.kernel, a.pc, a.meets, coalesce(sum(b.executions), 0) AS executions
FROM barriers a
LEFT JOIN kernel_blocks b ON b.kernel = a.kernel AND a.pc >= b.first_pc AND a.pc < b.first_pc + b.ninsns
GROUP BY a.kernel, a.pc;

CREATE VIEW module_kernels AS
SELECT k.*, m.name AS module_name, m.hash AS module_hash
FROM kernels k LEFT JOIN modules m ON m.id = k.module;

-- ---- for people ----

CREATE VIEW v_launches AS
SELECT l.id, l.process, k.name AS kernel, k.short_name, w.name AS way, l.estimated,
       l.grid_x || 'x' || l.grid_y || 'x' || l.grid_z AS grid,
       l.block_x || 'x' || l.block_y || 'x' || l.block_z AS block,
       l.stream, l.host_seconds, l.device_seconds, l.device_start, l.thread_instructions,
       l.blocks_run, l.blocks_observed, l.blocks_sampled, l.error, l.fault
FROM launches l JOIN kernels k ON k.id = l.kernel
LEFT JOIN names w ON w.kind = 'way' AND w.value = l.way;

CREATE VIEW v_instructions AS
SELECT i.launch, k.short_name AS kernel, i.pc, c.op, c.text, s.name AS space, a.name AS access,
       o.name AS object, f.path AS file, c.line, i.executions, i.requests, i.sectors, i.sectors_min,
       i.wavefronts, i.wavefronts_min, i.turns, i.slice_turns, i.active_lanes,
       i.uniform, i.contiguous, i.misaligned, i.strided, i.irregular, i.stride
FROM launch_instructions i
JOIN kernels k ON k.id = i.kernel
LEFT JOIN code c ON c.kernel = i.kernel AND c.pc = i.pc
LEFT JOIN files f ON f.id = c.file
LEFT JOIN objects o ON o.id = i.object
LEFT JOIN names s ON s.kind = 'space' AND s.value = i.space
LEFT JOIN names a ON a.kind = 'access' AND a.value = i.access;

CREATE VIEW v_lines AS
SELECT k.short_name AS kernel, f.path AS file, c.line, sum(i.requests) AS requests,
       sum(i.sectors) AS sectors, sum(i.sectors_min) AS sectors_min,
       sum(i.wavefronts) AS wavefronts, sum(i.wavefronts_min) AS wavefronts_min,
       round(1.0 * sum(i.sectors) /
             nullif(sum(CASE WHEN i.sectors > 0 THEN i.requests END), 0), 2)
         AS sectors_per_request
FROM kernel_instructions i
JOIN kernels k ON k.id = i.kernel
LEFT JOIN code c ON c.kernel = i.kernel AND c.pc = i.pc
LEFT JOIN files f ON f.id = c.file
GROUP BY i.kernel, c.file, c.line;

-- What the detectors start from: traffic of a kernel on an object, and the heat maps that exist of
-- it.
CREATE VIEW v_findings_input AS
SELECT t.kernel_id, k.short_name AS kernel, t.object_id, o.name AS object, s.name AS space,
       (SELECT sum(x.count) FROM kind_traffic x
        WHERE x.kernel = t.kernel_id AND x.object IS t.object_id AND x.space = t.space) AS launches,
       t.requests, t.sectors, t.sectors_min, t.wavefronts, t.wavefronts_min,
       t.uniform, t.contiguous, t.misaligned, t.strided, t.irregular,
       (SELECT coalesce(sum(h.count), 0) FROM kind_heats h
        WHERE h.kernel = t.kernel_id AND h.object IS t.object_id AND h.space = t.space) AS maps
FROM (
  SELECT kernel AS kernel_id, object AS object_id, space,
         sum(requests) AS requests, sum(sectors) AS sectors, sum(sectors_min) AS sectors_min,
         sum(wavefronts) AS wavefronts, sum(wavefronts_min) AS wavefronts_min,
         sum(uniform) AS uniform, sum(contiguous) AS contiguous, sum(misaligned) AS misaligned,
         sum(strided) AS strided, sum(irregular) AS irregular
  FROM kernel_instructions GROUP BY kernel, object, space) t
JOIN kernels k ON k.id = t.kernel_id
LEFT JOIN objects o ON o.id = t.object_id
LEFT JOIN names s ON s.kind = 'space' AND s.value = t.space;

CREATE VIEW v_samples AS
SELECT s.launch, k.short_name AS kernel, s.block_x || ',' || s.block_y || ',' || s.block_z AS block,
       n.name AS why, s.alike, s.blocks_observed AS of, s.mapped, s.instructions,
       round(1.0 * s.sectors / nullif(s.requests, 0), 2) AS sectors_per_request
FROM launch_samples s
JOIN kernels k ON k.id = s.kernel
LEFT JOIN names n ON n.kind = 'why' AND n.value = s.why;

CREATE VIEW v_uses AS
SELECT u.launch, k.short_name AS kernel, o.name AS object, s.name AS space, n.name AS known,
       4 * u.elements AS bytes, 4 * u.touched AS touched_bytes,
       round(1.0 * u.touched / u.elements, 4) AS touched, u.loads, u.stores, u.atomics,
       round(1.0 * (u.loads + u.stores + u.atomics) / u.elements, 2) AS mean,
       CASE WHEN u.touched < u.elements THEN 0 ELSE u.least END AS least, u.most,
       round(1.0 * coalesce(u.accesses_loaded + u.accesses_copied + u.accesses_computed,
                            u.loads + u.stores + u.atomics - u.accesses_unfilled -
                              u.ranges_loaded - u.ranges_copied - u.ranges_computed) /
             nullif(u.ranges_loaded + u.ranges_copied + u.ranges_computed, 0), 2)
         AS accesses_per_range,
       round(1.0 * u.block_accesses / nullif(u.block_words, 0), 2) AS accesses_per_block_word,
       4 * u.block_words_most AS block_bytes_most
FROM launch_uses u
JOIN kernels k ON k.id = u.kernel
LEFT JOIN objects o ON o.id = u.object
LEFT JOIN names s ON s.kind = 'space' AND s.value = u.space
LEFT JOIN names n ON n.kind = 'known' AND n.value = u.known;

CREATE VIEW v_live_ranges AS
SELECT v.launch, k.short_name AS kernel, o.name AS object, n.name AS origin, v.accesses, v.ranges
FROM launch_live_ranges v
JOIN kernels k ON k.id = v.kernel
LEFT JOIN objects o ON o.id = v.object
LEFT JOIN names n ON n.kind = 'origin' AND n.value = v.origin;

CREATE VIEW v_objects AS
SELECT o.id, o.name, n.name AS kind, s.name AS space, o.bytes, k.short_name AS kernel,
       f.path AS file, o.line, o.function, a.api AS allocated_by, r.api AS freed_by,
       h.name AS freed_how, p.name AS parent, o.pool, o.tag, o.element_bytes,
       b.short_name AS made_by
FROM objects o
LEFT JOIN names n ON n.kind = 'object' AND n.value = o.kind
LEFT JOIN names s ON s.kind = 'space' AND s.value = o.space
LEFT JOIN kernels k ON k.id = o.kernel
LEFT JOIN files f ON f.id = o.file
LEFT JOIN calls a ON a.id = o.alloc_call
LEFT JOIN calls r ON r.id = o.free_call
LEFT JOIN names h ON h.kind = 'freed' AND h.value = o.freed_how
LEFT JOIN objects p ON p.id = o.parent
LEFT JOIN kernels b ON b.id = o.made_by_kernel;

CREATE VIEW v_pools AS
SELECT l.process, l.pool, n.name AS kind, l.device, count(o.id) AS objects, sum(o.bytes) AS bytes,
       (SELECT max(s.reserved) FROM pool_states s WHERE s.process = l.process AND s.pool = l.pool)
         AS most_reserved,
       (SELECT max(s.used) FROM pool_states s WHERE s.process = l.process AND s.pool = l.pool) AS most_used
FROM pools l
LEFT JOIN objects o ON o.process = l.process AND o.pool = l.pool
LEFT JOIN names n ON n.kind = 'pool' AND n.value = l.kind
GROUP BY l.process, l.pool;

CREATE VIEW v_launch_ranges AS
SELECT t.id AS launch, m.position, r.id AS range, n.name AS kind, r.thread, r.domain, r.name
FROM launch_times t JOIN calls c ON c.id = t.call
JOIN range_lists m ON m.list = c.ranges
JOIN ranges r ON r.id = m.range
LEFT JOIN names n ON n.kind = 'range' AND n.value = r.kind;

CREATE VIEW v_calls AS
SELECT c.id, c.process, c.api, n.name AS kind, c.stream, c.start_ns, c.end_ns, c.result, c.bytes,
       c.device_seconds, c.device_start,
       s.name AS source, t.name AS target, f.path AS file, c.line, c.function
FROM calls c
LEFT JOIN names n ON n.kind = 'call' AND n.value = c.kind
LEFT JOIN objects s ON s.id = c.source_object
LEFT JOIN objects t ON t.id = c.target_object
LEFT JOIN files f ON f.id = c.file;

-- What copies, sets and launches read and wrote of each object, in the order of the process. Of a launch
-- that is not known whole (launches.accesses_known) there may be more.
CREATE VIEW v_accesses AS
SELECT a.process, a.ordinal, a.call, a.launch, a.object, o.name, max(a.reads) AS reads, max(a.writes) AS writes
FROM (
  SELECT process, ordinal, id AS call, NULL AS launch, source_object AS object, 1 AS reads, 0 AS writes
  FROM calls WHERE kind = 2 AND result = 0 AND flags & 1 = 0 AND source_object IS NOT NULL
  UNION ALL
  SELECT process, ordinal, id, NULL, target_object, 0, 1
  FROM calls WHERE kind IN (2, 3) AND result = 0 AND flags & 1 = 0 AND target_object IS NOT NULL
  UNION ALL
  SELECT l.process, l.ordinal, l.call, l.id, coalesce(m.becomes, i.object), i.access <> 1, i.access <> 0
  FROM launches l
  JOIN instructions i ON i.launch = l.rows_of AND i.space = 0
  LEFT JOIN moves m ON m.id = l.moves AND m.object = i.object
  UNION ALL
  SELECT l.process, l.ordinal, l.call, l.id, coalesce(m.becomes, r.object), r.loads OR r.atomics, r.stores OR r.atomics
  FROM launches l
  JOIN indirect_reaches r ON r.launch = l.rows_of
  LEFT JOIN moves m ON m.id = l.moves AND m.object = r.object) a
JOIN objects o ON o.id = a.object
GROUP BY a.process, a.ordinal, a.call, a.launch, a.object;

-- Allocations, frees, copies, sets and launches in the order of the process, with the objects that each is about.
CREATE VIEW v_operations AS
SELECT p.process, p.ordinal, n.name AS kind, p.what, p.stream, p.call, p.launch, p.bytes, p.device_seconds,
       f.path AS file, p.line, m.names AS allocates, e.names AS frees, a.reads, a.writes
FROM (
  SELECT process, ordinal, kind, api AS what, stream, id AS call, NULL AS launch, bytes, device_seconds, file, line
  FROM calls WHERE kind < 4 AND result = 0 AND flags & 1 = 0
  UNION ALL
  SELECT l.process, l.ordinal, 4, k.short_name, l.stream, l.call, l.id, NULL, l.device_seconds, c.file, c.line
  FROM launches l JOIN kernels k ON k.id = l.kernel LEFT JOIN calls c ON c.id = l.call) p
LEFT JOIN names n ON n.kind = 'call' AND n.value = p.kind
LEFT JOIN files f ON f.id = p.file
LEFT JOIN (SELECT alloc_call, group_concat(name, ', ') AS names FROM objects GROUP BY alloc_call) m
  ON m.alloc_call = p.call AND p.kind = 0
LEFT JOIN (SELECT free_call, group_concat(name, ', ') AS names FROM objects GROUP BY free_call) e
  ON e.free_call = p.call AND p.kind = 1
LEFT JOIN (
  SELECT process, ordinal, group_concat(CASE WHEN reads THEN name END, ', ') AS reads,
         group_concat(CASE WHEN writes THEN name END, ', ') AS writes
  FROM v_accesses GROUP BY process, ordinal) a ON a.process = p.process AND a.ordinal = p.ordinal
ORDER BY p.process, p.ordinal;

-- Device memory over time: a row for each allocation and free, moment by moment. What is pinned, registered or
-- part of another object takes none of its own, and the heap of kernels is set aside before.
CREATE VIEW v_memory AS
SELECT e.process, e.device, e.moment, e.call, e.object, e.name, e.bytes,
       sum(e.bytes) OVER (PARTITION BY e.process, e.device ORDER BY e.moment) AS in_use
FROM (
  SELECT process, device, alloc_order AS moment, alloc_call AS call, id AS object, name, bytes
  FROM objects WHERE process IS NOT NULL AND kind NOT IN (1, 3, 6) AND parent IS NULL
  UNION ALL
  SELECT process, device, free_order, free_call, id, name, -bytes
  FROM objects WHERE process IS NOT NULL AND kind NOT IN (1, 3, 6) AND parent IS NULL AND free_order IS NOT NULL) e
ORDER BY e.process, e.device, e.moment;

CREATE VIEW v_graph_nodes AS
SELECT r.call, r.graph, g.process, n.node, w.name AS type, s.ordinal, k.short_name AS kernel, l.id AS launch,
       c.id AS node_call
FROM graph_runs r
JOIN graphs g ON g.id = r.graph
JOIN graph_nodes n ON n.graph = r.graph
LEFT JOIN names w ON w.kind = 'node' AND w.value = n.type
LEFT JOIN graph_steps s ON s.call = r.call AND s.node = n.node
LEFT JOIN launches l ON l.process = g.process AND l.ordinal = s.ordinal
LEFT JOIN kernels k ON k.id = l.kernel
LEFT JOIN calls c ON c.process = g.process AND c.ordinal = s.ordinal;

CREATE VIEW v_graph_edges AS
SELECT a.call, a.graph, e.source, a.type AS source_type, a.kernel AS source_kernel, a.ordinal AS source_ordinal,
       e.target, z.type AS target_type, z.kernel AS target_kernel, z.ordinal AS target_ordinal
FROM v_graph_nodes a
JOIN graph_edges e ON e.graph = a.graph AND e.source = a.node
JOIN v_graph_nodes z ON z.call = a.call AND z.node = e.target;

CREATE VIEW v_static_mix AS
SELECT k.short_name AS kernel, m.first_pc, f.path AS file, c.line, b.ilp, b.mlp, b.chain_loads,
       b.chain_shared, n.name AS class, m.instructions, m.chain, m.machine, m.chain_machine
FROM static_mix m
JOIN static_blocks b ON b.kernel = m.kernel AND b.first_pc = m.first_pc
JOIN kernels k ON k.id = m.kernel
LEFT JOIN code c ON c.kernel = m.kernel AND c.pc = m.first_pc
LEFT JOIN files f ON f.id = c.file
LEFT JOIN names n ON n.kind = 'class' AND n.value = m.class;

CREATE VIEW v_loops AS
SELECT k.short_name AS kernel, l.header, c.function, f.path AS file, c.line, l.number, l.depth,
       l.times, l.trips
FROM loops l
JOIN kernels k ON k.id = l.kernel
LEFT JOIN code c ON c.kernel = l.kernel AND c.pc = l.header
LEFT JOIN files f ON f.id = c.file;

CREATE VIEW v_forms AS
SELECT k.short_name AS kernel, a.pc, c.op, f.path AS file, c.line, a.bytes, a.form, a.no_wrap
FROM forms a
JOIN kernels k ON k.id = a.kernel
LEFT JOIN code c ON c.kernel = a.kernel AND c.pc = a.pc
LEFT JOIN files f ON f.id = c.file;

-- Instructions that were not observed in some launch of their kernel, and why; launch: the first.
CREATE VIEW kernel_gaps AS
SELECT l.kernel, min(l.first) AS launch, g.pc, g.reason
FROM launch_kinds l
JOIN gaps g ON g.launch = l.rows_of
GROUP BY l.kernel, g.pc, g.reason;

CREATE VIEW v_gaps AS
SELECT k.short_name AS kernel, g.pc, c.op, f.path AS file, c.line, g.reason
FROM kernel_gaps g
JOIN kernels k ON k.id = g.kernel
LEFT JOIN code c ON c.kernel = g.kernel AND c.pc = g.pc
LEFT JOIN files f ON f.id = c.file;

CREATE VIEW v_faults AS
SELECT l.id AS launch, k.short_name AS kernel, f.kind, f.what, c.pc, w.path AS file, c.line, o.name AS object,
       f.address - o.base AS object_offset
FROM faults f
JOIN launches l ON l.id = f.launch
JOIN kernels k ON k.id = l.kernel
LEFT JOIN code c ON c.kernel = l.kernel AND c.pc = f.pc
LEFT JOIN files w ON w.id = c.file
LEFT JOIN objects o ON o.id = f.object;

CREATE VIEW v_parameters AS
SELECT k.short_name AS kernel, p.position, p.type, p.name, o.name AS object, o.variable,
       sum(l.count) AS launches
FROM launch_kinds l
JOIN reaches r ON r.launch = l.rows_of
JOIN kernels k ON k.id = l.kernel
LEFT JOIN parameters p ON p.kernel = l.kernel AND r.offset >= p.offset AND r.offset < p.offset + p.bytes
LEFT JOIN moves m ON m.id = l.moves AND m.object = r.object
LEFT JOIN objects o ON o.id = coalesce(m.becomes, r.object)
GROUP BY l.kernel, p.position, r.offset, o.id;

CREATE VIEW v_indirect_reaches AS
SELECT k.short_name AS kernel, o.name AS object, o.variable, max(r.loads) AS loads,
       max(r.stores) AS stores, max(r.atomics) AS atomics, sum(l.count) AS launches
FROM launch_kinds l
JOIN indirect_reaches r ON r.launch = l.rows_of
JOIN kernels k ON k.id = l.kernel
LEFT JOIN moves m ON m.id = l.moves AND m.object = r.object
LEFT JOIN objects o ON o.id = coalesce(m.becomes, r.object)
GROUP BY l.kernel, o.id;

CREATE VIEW v_mix AS
SELECT m.launch, k.short_name AS kernel, n.name AS class, m.warp_instructions, m.thread_instructions
FROM launch_mix m
JOIN kernels k ON k.id = m.kernel
LEFT JOIN names n ON n.kind = 'class' AND n.value = m.class;

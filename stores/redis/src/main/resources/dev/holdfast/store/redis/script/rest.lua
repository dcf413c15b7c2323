-- The other operations; the letters are those of ScriptCall.
local SHRINK, EXTEND, FORCE, SET_COUNT, COUNT_DOWN, RESIZE = 'H', 'T', 'F', 'N', 'D', 'Z'
local OPEN, KEEP_ALIVE, RETIRE, CLOSE, AUDIT = 'O', 'K', 'X', 'C', 'U'
local INSPECT, INSPECT_ONE, LIST_WAITED, PROBE, SWEEP = 'I', 'L', 'Q', '?', '.'
local ANNOTATE, RECORD_RUN, LIST_RUNS = 'E', 'J', 'G'

-- By operation: what serves it, and how many arguments it has.
local single = {
  [SHRINK] = { shrink, 4 }, [EXTEND] = { extend, 5 }, [FORCE] = { force, 3 },
  [SET_COUNT] = { setcount, 5 }, [COUNT_DOWN] = { countdown, 4 }, [RESIZE] = { resize, 4 },
  [OPEN] = { open, 4 }, [KEEP_ALIVE] = { keepalive, 2 }, [RETIRE] = { retire, 1 }, [CLOSE] = { close, 1 },
  [AUDIT] = { audit, 3 }, [INSPECT_ONE] = { inspectone, 3 }, [LIST_WAITED] = { listwaited, 3 }, [PROBE] = { probe, 1 },
  [ANNOTATE] = { annotate, 5 }, [RECORD_RUN] = { recordrun, 3 }, [LIST_RUNS] = { listruns, 1 },
  [SWEEP] = { function() return 'D' end, 0 }, -- the sweep comes before every command
}

local function other(i)
  if args[i] == INSPECT then
    return safely(inspectall, { unpack(args, i + 2, i + 1 + args[i + 1]) }), i + 2 + args[i + 1]
  end
  local served = single[args[i]]
  return safely(served[1], unpack(args, i + 1, i + served[2])), i + 1 + served[2]
end

return other, sweep

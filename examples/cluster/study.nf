// study.nf -- a study as processes of Nextflow: `nextflow run study.nf`.  Paths are absolute: each process has its own folder.
params.model = "$projectDir/four_bar.yaml"
params.store = "$launchDir/study"
params.shares = 4

process share {
    input: val k
    output: val k
    script: "linkwork sweep $params.model --vary gravity.y=-9.81:-1:200 --duration 0.5 --watch sys.T --store $params.store --part-rows 10 --part $k/$params.shares"
}

process table {
    input: val all
    script: "linkwork sweep --merge $params.store -o $launchDir/study.csv"
}

workflow { table(share(Channel.of(1..params.shares)).collect()) }
